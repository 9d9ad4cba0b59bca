"""Pairs as text: six columns separated by commas or white space."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError

COLUMNS = "six columns: source x y z, target x y z"
IN_PLANE = 4
"""Columns of pairs in the plane: source x y, target x y."""


def read_columns(path: Path) -> NDArray[np.float64]:
    """The N×6 numbers, or N×4 of pairs in the plane; what is wrong is named with its line."""
    try:
        number, line = _first_data_line(path)
        delimiter = "," if "," in line else None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: not a text file: expected {COLUMNS}") from error
    try:
        with open(path, encoding="utf-8-sig") as file:
            pairs = np.loadtxt(file, delimiter=delimiter, comments="#", skiprows=number - 1, ndmin=2)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: not a text file: expected {COLUMNS}") from error
    except ValueError as error:
        raise _first_bad_line(path, number, delimiter, error) from error
    if pairs.shape[1] not in (6, IN_PLANE):
        raise FileFormatError(f"{path}, line {number}: {pairs.shape[1]} columns: expected {COLUMNS}")
    return pairs


def _first_data_line(path: Path) -> tuple[int, str]:
    """Number and text of the first line with numbers; one line of words before it is a header."""
    header_seen = False
    with open(path, encoding="utf-8-sig") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.partition("#")[0].strip()
            if not line:
                continue
            if header_seen or any(_is_number(cell) for cell in line.replace(",", " ").split()):
                return number, line
            header_seen = True
    raise FileFormatError(f"{path}: no pairs in it: expected {COLUMNS}")


def _first_bad_line(path: Path, start: int, delimiter: str | None, error: ValueError) -> FileFormatError:
    wide = 0
    with open(path, encoding="utf-8-sig") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.partition("#")[0].strip()
            if number < start or not line:
                continue
            cells = line.split(delimiter)
            wide = wide or (IN_PLANE if len(cells) == IN_PLANE else 6)
            if len(cells) != wide:
                return FileFormatError(f"{path}, line {number}: {len(cells)} columns: expected {COLUMNS}")
            for cell in cells:
                if not _is_number(cell):
                    return FileFormatError(f"{path}, line {number}: {cell.strip()[:40]!r} is not a number")
    detail = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return FileFormatError(f"{path}: {detail}: expected {COLUMNS}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
