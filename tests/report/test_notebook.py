"""Figures in notebooks: live where they can be, a picture everywhere else, executed by Jupyter itself."""

from __future__ import annotations

import base64
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tear3d.errors import InputError, MissingExtraError
from tests.report.case import make_case

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"
CELLS = (
    "from tests.report.case import make_case, make_found\nproblem, result = make_case(300, 0.5)\nresult",
    "result.plot(problem.source, problem.target)",
    "result.plot(problem.source, problem.target, kind='residuals').show()",
    "make_found(problem, result).plot()",
)


@pytest.fixture
def figure():
    pytest.importorskip("plotly")
    problem, result = make_case(200, 0.5)
    return result.plot(problem.source, problem.target)


@pytest.fixture
def renderer(monkeypatch):
    pio = pytest.importorskip("plotly.io")
    before = pio.renderers.default
    yield pio.renderers
    pio.renderers.default = before


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that Jupyter ran, as HTML and as Markdown."""
    for name in ("plotly", "nbconvert", "ipykernel"):
        pytest.importorskip(name)
    nbformat = pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbformat.write(book, folder / "a.ipynb")
    for kind in ("html", "markdown"):
        command = [sys.executable, "-m", "nbconvert", "--execute", "--to", kind, str(folder / "a.ipynb")]
        where = os.environ | {"PYTHONPATH": str(ROOT)}  # for `tests`, from the folder of the notebook
        where.pop("JPY_SESSION_NAME", None)
        done = subprocess.run(command, capture_output=True, text=True, env=where)
        assert done.returncode == 0, done.stderr
        assert "not able to be represented" not in done.stderr
    return folder


def test_nbconvert_draws_every_figure_in_html(executed):
    page = (executed / "a.html").read_text(encoding="utf-8")
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == 3
    assert all(base64.b64decode(picture).startswith(PNG) for picture in pictures)
    assert "cdn.plot.ly" not in page


def test_nbconvert_writes_every_picture_beside_the_markdown(executed):
    page = (executed / "a.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[png\]\((a_files/[^)]+\.png)\)", page)
    assert len(pictures) == 3
    assert all((executed / name).read_bytes().startswith(PNG) for name in pictures)


def test_the_bundle_of_a_page_and_that_of_a_notebook_on_a_server(figure, renderer, monkeypatch):
    renderer.default = "plotly_mimetype"
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "image/png"}
    assert base64.b64decode(bundle["image/png"]).startswith(PNG)
    assert len(bundle["application/vnd.plotly.v1+json"]["data"]) == 4
    # plotly's extension of JupyterLab would show the PNG instead of the figure.
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html"}
    assert re.fullmatch(r'<img alt="[\w ]+" src="data:image/png;base64,[\w+/=]+">', bundle["text/html"])


def test_a_renderer_that_was_chosen_does_its_work(figure, renderer):
    renderer.default = "json"
    assert set(figure._repr_mimebundle_()) == {"application/json"}


def test_a_figure_can_be_copied(figure):
    copy = pickle.loads(pickle.dumps(figure))
    assert copy.to_png() == figure.to_png()


def test_without_pillow_the_extra_is_named(monkeypatch):
    pytest.importorskip("plotly")
    problem, result = make_case(50, 0.5)
    for name in [name for name in sys.modules if name.startswith(("PIL", "tear3d.report.pict"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"pillow.*tear3d\[report\]"):
        result.plot(problem.source, problem.target)


@pytest.mark.parametrize("pose", [[1.0, 2.0], [[float("nan")] * 4] * 4])
def test_a_pose_that_is_none_is_refused(pose):
    pytest.importorskip("plotly")
    problem, result = make_case(50, 0.5)
    with pytest.raises(InputError, match="pose is not a finite 4×4 matrix"):
        result.plot(problem.source, problem.target, pose=pose)
