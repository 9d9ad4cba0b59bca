"""The gallery: notebooks that Jupyter ran, and the pages and pictures made of them.

The notebooks are the source. `python -m docs.gallery [NAME ...]` runs them and writes the pages again; of the outputs,
notebooks keep what was printed and the pictures.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import nbformat

FOLDER = Path(__file__).resolve().parent
PICTURES = FOLDER / "pictures"
_TIME = re.compile(r"\d[\d.]*\s*(?:ms|s|min)\b")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d\u202f]*(?:\.\d+)?")


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def run(book: Any, folder: str | Path) -> Any:
    """A notebook with what its cells print and draw, run by Jupyter in `folder`."""
    from nbclient import NotebookClient

    done = NotebookClient(
        book.copy(), timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in done.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [kept for kept in map(_kept, cell.outputs) if kept is not None]
    done.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return done


def page(book: Any, name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and its pictures by the names of their files."""
    parts, pictures = [], {}
    for cell in book.cells:
        parts.append(cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                parts.append(f"```text\n{output.text.rstrip()}\n```")
            else:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(output.data["image/png"])
                parts.append(f"![{_caption(cell.source)}](pictures/{file})")
    parts.append(f"[This page as a notebook]({name}.ipynb)")
    return "\n\n".join(parts) + "\n", pictures


def write(path: Path, book: Any) -> None:
    """The notebook, its page and its pictures."""
    nbformat.write(book, path)
    text, pictures = page(book, path.stem)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob(f"{path.stem}-*.png"):
        old.unlink()
    for name, picture in pictures.items():
        (PICTURES / name).write_bytes(picture)


def printed(book: Any) -> list[str]:
    """What the cells printed, and for every picture the word `picture`."""
    every = [output for cell in book.cells for output in cell.get("outputs", [])]
    return [output.text if output.output_type == "stream" else "picture" for output in every]


def same(one: str, other: str, share: float = 0.02) -> bool:
    """Whether two texts have the same words, and numbers within a share of each other or one unit of their last digit.

    Times may be anything. Another processor may round otherwise, which a match more or less can follow from.
    """
    one, other = (_TIME.sub("TIME", text) for text in (one, other))
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(_near(a, b, share) for a, b in pairs)


def _near(one: str, other: str, share: float) -> bool:
    a, b = (float(text.replace("−", "-").replace("\u202f", "")) for text in (one, other))
    unit = 10.0 ** -max(len(text.partition(".")[2]) for text in (one, other))
    return abs(a - b) <= max(1.001 * unit, share * max(abs(a), abs(b)))


def _kept(output: Any) -> Any:
    """What was printed and drawn; messages about compiling go."""
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    if output.output_type == "error":
        raise RuntimeError(f"{output.ename}: {output.evalue}")
    picture = output.data.get("image/png")
    if picture is None:
        raise RuntimeError("a cell of the gallery ends with what is no picture: print it")
    return nbformat.v4.new_output("display_data", data={"image/png": picture.strip()})


def _caption(code: str) -> str:
    if "eye(4)" in code:
        return "The source as given, and the target"
    found = re.search(r'kind="(\w+)"', code)
    return {"residuals": "Residuals of the pairs", "search": "The search"}.get(
        found[1] if found else "", "The source under the pose, over the target"
    )
