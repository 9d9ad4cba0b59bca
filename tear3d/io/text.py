"""Text with one point per line: XYZ, CSV, TXT, PTS, ASC."""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_HEADER_BYTES
from tear3d.io.cloud import Parts
from tear3d.io.columns import COLOURS, NORMALS, as_type, grouped

KIND = "text"
USUAL = {
    (".xyzn", 6): (*"xyz", *NORMALS),
    (".xyzrgb", 6): (*"xyz", *COLOURS),
    (".pts", 4): (*"xyz", "intensity"),
    (".pts", 6): (*"xyz", *COLOURS),
    (".pts", 7): (*"xyz", "intensity", *COLOURS),
}
"""What columns without names are, by the suffix and their number."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[;\s]\s*[+-]?\d+(?:,\d+)?){2,}")
AXIS = re.compile(r"([xyz])(?![a-z])", re.IGNORECASE)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Layout:
    """Where the numbers of a file are."""

    skip: int
    delimiter: str | None
    columns: tuple[int, ...]
    declared: int | None
    """The count in the first line of a PTS file."""
    names: tuple[str, ...]
    """Of all columns; empty where nothing names them."""
    numeric: tuple[bool, ...]
    """Which columns of the first line are numbers."""


def read(path: Path, limit: int) -> NDArray[Any]:
    layout = _layout(path)
    return _table(path, layout, layout.columns)


def read_all(path: Path, limit: int) -> Parts:
    layout = _layout(path)
    usual = USUAL.get((path.suffix.lower(), len(layout.numeric)), ())
    names = layout.names or usual or tuple(f"column{i + 1}" for i in range(len(layout.numeric)))
    others = [i for i, numeric in enumerate(layout.numeric) if numeric and i not in layout.columns]
    others = [i for i in others if names[i] and names.index(names[i]) == i]
    try:
        table = _table(path, layout, (*layout.columns, *others))
    except ValueError:
        table, others = _table(path, layout, layout.columns), []
        logger.warning("%s: only the coordinates are numbers in every line; other columns are left out", path)
    found = grouped({names[i]: table[:, 3 + k] for k, i in enumerate(others)})
    if "classification" in found:
        found["classification"] = as_type(found["classification"], np.uint8)
    return Parts(table[:, :3], found)


def _table(path: Path, layout: Layout, columns: tuple[int, ...]) -> NDArray[np.float64]:
    how: dict[str, Any] = {
        "skiprows": layout.skip,
        "delimiter": layout.delimiter,
        "usecols": columns,
        "quotechar": '"',
        "encoding": "utf-8-sig",
        "ndmin": 2,
    }
    try:
        points = np.loadtxt(path, **how)
    except ValueError as error:
        if "column index" in str(error):
            raise FileFormatError(f"{path}: some lines have fewer numbers than the first ({error})") from error
        if layout.delimiter is None:
            raise
        points = np.loadtxt(path, converters=_filled, **how)
    if layout.declared is not None and layout.declared != len(points):
        raise FileFormatError(f"{path}: declares {layout.declared} points but holds {len(points)}")
    return points


def _layout(path: Path) -> Layout:
    """Look at the first lines for comments, a count, column names and the delimiter."""
    with path.open("rb") as handle:
        start = handle.read(MAX_HEADER_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileFormatError(f"{path}: is text in UTF-16; save it as UTF-8")
    if b"\0" in start:
        raise FileFormatError(f"{path}: is binary; expected text with one point per line")
    declared: int | None = None
    header: list[str] | None = None
    comment: list[str] = []
    for skip, line in enumerate(re.split(r"\r\n|\r|\n", start.decode("utf-8-sig", "replace"))):
        text = line.strip()
        words, delimiter = _split(text)
        if "#" in text and _numeric(_split(text.partition("#")[0].strip())[0]):
            words, delimiter = _split(text.partition("#")[0].strip())
        if not text or text.startswith(("#", "//")):
            comment = _split(text.lstrip("#/ "))[0] or comment
        elif not _numeric(words) and not _under(header, words):
            if DECIMAL_COMMA.fullmatch(text):
                raise FileFormatError(f"{path}: line {skip + 1} has decimal commas; write numbers with points")
            if header is not None or declared is not None:
                raise FileFormatError(f"{path}: line {skip + 1} is {text[:60]!r}; expected x y z")
            header = words
        elif len(words) >= 3:
            columns, names = _columns(path, header, comment, len(words))
            return Layout(skip, delimiter, columns, declared, names, tuple(_numeric([word]) for word in words))
        elif len(words) == 1 and words[0].isdigit() and declared is None:
            declared = int(words[0])
        else:
            raise FileFormatError(f"{path}: line {skip + 1} has {len(words)} numbers; expected x y z")
    raise FileFormatError(f"{path}: has no line with three numbers")


def _columns(
    path: Path, header: list[str] | None, comment: list[str], count: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Where x, y, z are, and what the columns are called; a comment counts as names only if it looks like them."""
    names = header if header is not None else comment
    if len(names) == count:
        exact = [name.lower() for name in names]
        alike = [match[1].lower() if (match := AXIS.match(name)) else "" for name in names]
        for found in (exact, alike):
            if all(found.count(axis) == 1 for axis in "xyz"):
                return tuple(found.index(axis) for axis in "xyz"), tuple(names)
    if header is not None:
        raise FileFormatError(
            f"{path}: the {count} columns are headed {' '.join(header)[:80]!r}; name the coordinates x, y, z"
        )
    return (0, 1, 2), ()


def _split(text: str) -> tuple[list[str], str | None]:
    delimiter = next((mark for mark in (",", ";") if mark in text), None)
    return [word.strip().strip('"') for word in text.split(delimiter)], delimiter


def _under(header: list[str] | None, words: list[str]) -> bool:
    """Whether these are numbers where a header names x, y and z; other columns may hold words."""
    if header is None or len(header) != len(words):
        return False
    names = [name.lower() for name in header]
    return all(axis in names and _numeric([words[names.index(axis)]]) for axis in "xyz")


def _filled(cell: str) -> float:
    """A number, and NaN where there is none."""
    return float(cell) if cell.strip() else np.nan


def _numeric(words: list[str]) -> bool:
    try:
        return len([float(word) for word in words if word]) > 0
    except ValueError:
        return False
