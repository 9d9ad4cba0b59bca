"""Text with one point per line: XYZ, CSV, TXT, PTS, ASC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_HEADER_BYTES

KIND = "text"
AXIS = re.compile(r"([xyz])(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """Where the numbers of a file are."""

    skip: int
    delimiter: str | None
    columns: tuple[int, ...]
    declared: int | None
    """The count in the first line of a PTS file."""


def read(path: Path, limit: int) -> NDArray[Any]:
    layout = _layout(path)
    points = np.loadtxt(
        path,
        skiprows=layout.skip,
        delimiter=layout.delimiter,
        usecols=layout.columns,
        quotechar='"',
        encoding="utf-8-sig",
        ndmin=2,
    )
    if layout.declared is not None and layout.declared != len(points):
        raise FileFormatError(f"{path}: declares {layout.declared} points but holds {len(points)}")
    return points


def _layout(path: Path) -> Layout:
    """Look at the first lines for comments, a count, column names and the delimiter."""
    with path.open("rb") as handle:
        start = handle.read(MAX_HEADER_BYTES)
    if b"\0" in start:
        raise FileFormatError(f"{path}: is binary; expected text with one point per line")
    declared: int | None = None
    header: list[str] | None = None
    comment: list[str] = []
    for skip, line in enumerate(re.split(r"\r\n|\r|\n", start.decode("utf-8-sig", "replace"))):
        text = line.strip()
        words, delimiter = _split(text)
        if not text or text.startswith(("#", "//")):
            comment = _split(text.lstrip("#/ "))[0] or comment
        elif not _numeric(words):
            if header is not None or declared is not None:
                raise FileFormatError(f"{path}: line {skip + 1} is {text[:60]!r}; expected x y z")
            header = words
        elif len(words) >= 3:
            return Layout(skip, delimiter, _columns(path, header, comment, len(words)), declared)
        elif len(words) == 1 and words[0].isdigit() and declared is None:
            declared = int(words[0])
        else:
            raise FileFormatError(f"{path}: line {skip + 1} has {len(words)} numbers; expected x y z")
    raise FileFormatError(f"{path}: has no line with three numbers")


def _columns(path: Path, header: list[str] | None, comment: list[str], count: int) -> tuple[int, ...]:
    """Where x, y, z are; a comment counts as column names only if it looks like them."""
    names = header if header is not None else comment
    found = [match[1].lower() if (match := AXIS.match(name)) else "" for name in names]
    if len(names) == count and all(found.count(axis) == 1 for axis in "xyz"):
        return tuple(found.index(axis) for axis in "xyz")
    if header is not None:
        raise FileFormatError(
            f"{path}: the {count} columns are headed {' '.join(header)[:80]!r}; name the coordinates x, y, z"
        )
    return (0, 1, 2)


def _split(text: str) -> tuple[list[str], str | None]:
    delimiter = next((mark for mark in (",", ";") if mark in text), None)
    return [word.strip().strip('"') for word in text.split(delimiter)], delimiter


def _numeric(words: list[str]) -> bool:
    try:
        return len([float(word) for word in words if word]) > 0
    except ValueError:
        return False


def write(handle: BinaryIO, points: NDArray[np.float64]) -> None:
    np.savetxt(handle, points, fmt="%.17g")
