"""The gallery: pages are what is made of the notebooks, and the notebooks print what their pages show."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nbformat", reason="pip install 'tear3d[docs]'")

from docs import gallery

NAMES = ("rooms", "lidar", "object", "cad", "huge", "failures")
PNG = b"\x89PNG\r\n\x1a\n"


def book_of(name):
    return gallery.read(gallery.FOLDER / f"{name}.ipynb")


def test_the_notebooks_are_those_that_the_index_lists():
    assert {path.stem for path in gallery.notebooks()} == set(NAMES)
    index = (gallery.FOLDER / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+)\.md\) \|", index)) == set(NAMES)
    for link in re.findall(r"\]\(([\w/.-]+)\)", index):
        assert (gallery.FOLDER / link).exists(), link


@pytest.mark.parametrize("name", NAMES)
def test_the_page_and_the_pictures_are_those_of_the_notebook(name):
    text, pictures = gallery.page(book_of(name), name)
    shown = (gallery.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert shown == text, f"python -m docs.gallery {name}"
    assert len(pictures) >= 1
    there = {path.name: path.read_bytes() for path in gallery.PICTURES.glob(f"{name}-*.png")}
    assert there == pictures
    assert all(picture.startswith(PNG) for picture in pictures.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_a_page_shows_is_what_comes_out(name, tmp_path):
    for package in ("nbclient", "ipykernel", "plotly", "PIL"):
        pytest.importorskip(package)
    book = book_of(name)
    shown = gallery.printed(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    found = gallery.printed(gallery.run(book, tmp_path))
    assert len(found) == len(shown)
    for one, other in zip(found, shown, strict=True):
        assert gallery.same(one, other), f"the page shows\n{other}\nand this came out:\n{one}"


def test_the_gallery_is_small():
    size = sum(path.stat().st_size for path in gallery.FOLDER.rglob("*") if path.suffix in (".ipynb", ".md", ".png"))
    assert size < 2_000_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("confirmed, 3.1 s", "confirmed, 12 s", True),
        ("confirmed", "doubtful", False),
        ("fit 0.57", "fit 0.58", True),
        ("fit 0.57", "fit 0.62", False),
        ("1000 matches", "1015 matches", True),
        ("1000 matches", "1200 matches", False),
        ("-0.5 off", "0.5 off", False),
        ("1 and 2", "1", False),
    ],
)
def test_numbers_are_compared(one, other, same):
    assert gallery.same(one, other) == same


def test_what_a_notebook_must_not_do_is_noticed():
    import nbformat

    table = nbformat.v4.new_output("execute_result", data={"text/plain": "3"})
    with pytest.raises(RuntimeError, match="print it"):
        gallery._kept(table)
    failed = nbformat.v4.new_output("error", ename="ValueError", evalue="no")
    with pytest.raises(RuntimeError, match="ValueError: no"):
        gallery._kept(failed)
    assert gallery._kept(nbformat.v4.new_output("stream", name="stderr", text="compiling")) is None
