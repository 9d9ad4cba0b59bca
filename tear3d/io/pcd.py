"""PCD: ascii, binary and binary_compressed, through pypcd4.

The header is checked against the file's size first and handed on in a plain form: unique field
names, one space between values.
"""

from __future__ import annotations

import io
import os
import struct
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, check_memory, header_lines, load_package, whole_number
from tear3d.io.cloud import Parts
from tear3d.io.columns import COLOURS, as_type, grouped

KIND = "PCD"
ENCODINGS = ("ascii", "binary", "binary_compressed")
PACKED = ("rgb", "rgba")
MAX_COLUMNS = 10_000
MAX_LZF_RATIO = 100
"""Three bytes of LZF stand for at most 264."""


@dataclass(frozen=True)
class Header:
    names: list[str]
    sizes: list[int]
    types: list[str]
    counts: list[int]
    points: int
    encoding: str
    viewpoint: NDArray[np.float64] | None = None

    @property
    def row_bytes(self) -> int:
        return sum(s * c for s, c in zip(self.sizes, self.counts, strict=True))

    def plain(self) -> bytes:
        names = [name if name in ("x", "y", "z") else f"other{i}" for i, name in enumerate(self.names)]
        # Text often carries more digits than the 4-byte float it is declared as.
        text = self.encoding == "ascii"
        sizes = ["8" if text else str(s) for s in self.sizes]
        types = ["F" if text else t for t in self.types]
        rows = {"FIELDS": names, "SIZE": sizes, "TYPE": types, "COUNT": map(str, self.counts)}
        lines = ["VERSION 0.7", *(f"{key} {' '.join(values)}" for key, values in rows.items())]
        lines += [f"WIDTH {self.points}", "HEIGHT 1", f"POINTS {self.points}", f"DATA {self.encoding}\n"]
        return "\n".join(lines).encode()


def read(path: Path, limit: int) -> NDArray[Any]:
    _, data = _load(path, limit, 1)
    return np.column_stack([data[axis].astype(np.float64) for axis in "xyz"])


def read_all(path: Path, limit: int) -> Parts:
    header, data = _load(path, limit, 2)
    columns: dict[str, NDArray[Any]] = {}
    apart = set(COLOURS) <= set(header.names)
    for i, (name, size, kind, count) in enumerate(
        zip(header.names, header.sizes, header.types, header.counts, strict=True)
    ):
        if name in ("x", "y", "z", "_") or name in columns or (apart and name in PACKED):
            continue
        parts = [data[f"other{i}" if count == 1 else f"other{i}__{k:04d}"] for k in range(count)]
        values = as_type(parts[0] if count == 1 else np.column_stack(parts), f"{kind.lower()}{size}")
        if name in PACKED and (size, count) == (4, 1) and values.dtype.itemsize == 4:
            columns |= _unpacked(name, values)
        else:
            columns[name] = values
    points = np.column_stack([data[axis].astype(np.float64) for axis in "xyz"])
    return Parts(points, grouped(columns), {} if header.viewpoint is None else {"viewpoint": header.viewpoint})


def _unpacked(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Blue is the lowest byte of a number, also where a float has its bits."""
    parts = np.ascontiguousarray(values).view(np.uint32)
    shifts = {"red": 16, "green": 8, "blue": 0} | ({"alpha": 24} if name == "rgba" else {})
    return {part: ((parts >> shift) & 255).astype(np.uint8) for part, shift in shifts.items()}


def _load(path: Path, limit: int, copies: int) -> tuple[Header, NDArray[Any]]:
    """The header and the rows, of which so many copies must fit in memory."""
    pypcd4 = load_package("pypcd4", "clouds", "reading PCD files")
    size = path.stat().st_size
    with path.open("rb") as handle:
        header = _parse(path, header_lines(handle, path, KIND, b"DATA"))
        if header.points == 0:
            raise FileFormatError(f"{path}: holds no points")
        left = size - handle.tell()
        what = f"its header ({header.points} points)"
        if header.encoding == "ascii":
            check_declared(path, what, 2 * sum(header.counts) * header.points - 1, left)
        elif header.encoding == "binary":
            check_declared(path, what, header.row_bytes * header.points, left)
        else:
            _check_compressed(path, handle, header, left)
        check_memory(path, what, (24 + copies * header.row_bytes) * header.points, limit)
        body = _ascii_body(path, handle, header) if header.encoding == "ascii" else handle.read()
    data = np.atleast_1d(pypcd4.PointCloud.from_fileobj(io.BytesIO(header.plain() + body)).pc_data)
    if len(data) != header.points:
        raise FileFormatError(f"{path}: declares {header.points} points but holds {len(data)}")
    return header, data


def _ascii_body(path: Path, handle: BinaryIO, header: Header) -> bytes:
    rows = (b" ".join(words) for words in map(bytes.split, handle) if words)
    lines = list(islice(rows, header.points))
    if len(lines) != header.points:
        raise FileFormatError(f"{path}: declares {header.points} points but holds {len(lines)}")
    return b"\n".join(lines) + b"\n"


def _check_compressed(path: Path, handle: BinaryIO, header: Header, left: int) -> None:
    check_declared(path, "the sizes of its compressed data", 8, left)
    packed, unpacked = struct.unpack("<II", handle.read(8))
    handle.seek(-8, os.SEEK_CUR)
    check_declared(path, "its compressed data", packed, left - 8)
    if unpacked != header.row_bytes * header.points or unpacked > MAX_LZF_RATIO * packed:
        raise FileFormatError(
            f"{path}: {header.points} points of {header.row_bytes} bytes do not match "
            f"{packed} compressed bytes declared to unpack to {unpacked}"
        )


def _parse(path: Path, lines: list[list[str]]) -> Header:
    entries = {words[0].upper(): words[1:] for words in lines if not words[0].startswith("#")}
    names = entries.get("FIELDS", entries.get("COLUMNS", []))
    if any(names.count(axis) != 1 for axis in "xyz"):
        raise FileFormatError(f"{path}: needs the fields x, y, z; found {' '.join(names)[:100] or 'none'}")

    def numbers(key: str) -> list[int]:
        return [whole_number(path, key, word) for word in entries.get(key, [])]

    sizes, types = numbers("SIZE"), [word.upper() for word in entries.get("TYPE", [])]
    counts = numbers("COUNT") or [1] * len(names)
    if not len(names) == len(sizes) == len(types) == len(counts):
        raise FileFormatError(f"{path}: FIELDS, SIZE, TYPE and COUNT have different lengths")
    for name, size, kind, count in zip(names, sizes, types, counts, strict=True):
        known = kind in ("F", "I", "U") and size in ((4, 8) if kind == "F" else (1, 2, 4, 8))
        if not known or count < 1 or (name in ("x", "y", "z") and count != 1):
            raise FileFormatError(f"{path}: field {name[:40]} has the type {kind[:8]}, size {size}, count {count}")
    if sum(counts) > MAX_COLUMNS:
        raise FileFormatError(f"{path}: declares {sum(counts)} values per point; at most {MAX_COLUMNS}")
    grid = (numbers("WIDTH") + numbers("HEIGHT"))[:2]
    points = (numbers("POINTS") or [int(np.prod(grid, dtype=object))] if grid else numbers("POINTS"))[:1]
    if not points or (len(grid) == 2 and grid[0] * grid[1] != points[0]):
        raise FileFormatError(f"{path}: WIDTH × HEIGHT and POINTS disagree or are missing")
    encoding = " ".join(entries["DATA"]).lower()
    if encoding not in ENCODINGS:
        raise FileFormatError(f"{path}: DATA is {encoding[:40]!r}; expected one of {', '.join(ENCODINGS)}")
    return Header(names, sizes, types, counts, points[0], encoding, _viewpoint(entries.get("VIEWPOINT", [])))


def _viewpoint(words: list[str]) -> NDArray[np.float64] | None:
    """Where the scanner was; None where that is not said, or not in numbers."""
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        return None
    return found if found.shape == (7,) and np.isfinite(found).all() and found[3:].any() else None
