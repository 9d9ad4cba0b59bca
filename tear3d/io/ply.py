"""PLY: ascii and both byte orders. Only the elements up to the vertices are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, check_memory, header_lines
from tear3d.io.ply_header import Element, Header, parse
from tear3d.io.ply_lists import Rows

KIND = "PLY"
AXES = "xyz"


def read(path: Path, limit: int) -> NDArray[Any]:
    with path.open("rb") as handle:
        header = parse(path, header_lines(handle, path, KIND, b"end_header"))
        ascii_file, count, start = not header.order, header.vertices.count, handle.tell()
        least = sum(e.count * e.least_bytes(ascii_file) for e in (*header.before, header.vertices))
        what = f"its header ({count} vertices)"
        # The last line of an ascii file may lack its newline.
        check_declared(path, what, least - ascii_file, path.stat().st_size - start)
        if count == 0:
            return np.empty((0, 3))
        columns = len(header.vertices.properties) if ascii_file else len(AXES)
        check_memory(path, what, 8 * columns * count, limit)
        return _read_ascii(path, handle, header) if ascii_file else _read_binary(path, start, header)


def _read_binary(path: Path, start: int, header: Header) -> NDArray[np.float64]:
    data = np.memmap(path, np.uint8, mode="r")
    vertices, order = header.vertices, header.order
    for element in header.before:
        if element.has_lists:
            start = Rows(path, data, start, element, order).skip()
        else:
            start += element.count * element.least_bytes(False)
    check_declared(path, "its vertices", start + vertices.count * vertices.least_bytes(False), len(data))
    if vertices.has_lists:
        return Rows(path, data, start, vertices, order).columns(AXES)
    names = [p.name for p in vertices.properties]
    ends = np.cumsum([p.least_bytes for p in vertices.properties])
    places = [names.index(axis) for axis in AXES]
    rows = np.dtype(
        {
            "names": list(AXES),
            "formats": [order + vertices.properties[i].type for i in places],
            "offsets": [int(ends[i]) - vertices.properties[i].least_bytes for i in places],
            "itemsize": int(ends[-1]),
        }
    )
    table = np.ndarray(vertices.count, rows, data.data, start)
    points = np.empty((len(table), 3))
    for column, axis in enumerate(AXES):
        points[:, column] = table[axis]
    return points


def _read_ascii(path: Path, handle: BinaryIO, header: Header) -> NDArray[np.float64]:
    vertices = header.vertices
    lines = (line for line in handle if not line.isspace())
    skipped = sum(element.count for element in header.before)
    rows: Iterator[bytes] = islice(lines, skipped, skipped + vertices.count)
    names = [p.name for p in vertices.properties]
    if vertices.has_lists:
        rows, names = _without_lists(path, rows, vertices), list(AXES)
    first = next(rows, None)
    if first is None:
        raise FileFormatError(f"{path}: declares {vertices.count} vertices but holds none")
    table = np.loadtxt(chain([first], rows), comments=None, ndmin=2)
    if len(table) != vertices.count:
        raise FileFormatError(f"{path}: declares {vertices.count} vertices but holds {len(table)}")
    if table.shape[1] != len(names):
        raise FileFormatError(f"{path}: declares {len(names)} numbers per vertex but has {table.shape[1]}")
    return table[:, [names.index(axis) for axis in AXES]]


def _without_lists(path: Path, rows: Iterator[bytes], vertices: Element) -> Iterator[bytes]:
    """The coordinates alone."""
    for row in rows:
        words, place, found = row.split(), 0, {}
        try:
            for p in vertices.properties:
                found[p.name if p.length is None else ""] = words[place]
                place += 1 if p.length is None else 1 + _length(words[place])
        except (IndexError, ValueError):
            place = -1
        if place != len(words):
            raise FileFormatError(
                f"{path}: the vertex {row.decode('latin-1').strip()[:60]!r} does not match the header"
            )
        yield b" ".join(found[axis] for axis in AXES) + b"\n"


def _length(word: bytes) -> int:
    if not word.isdigit() or len(word) > 18:
        raise ValueError(word)
    return int(word)


def write(handle: BinaryIO, points: NDArray[np.float64]) -> None:
    properties = "".join(f"property double {axis}\n" for axis in AXES)
    handle.write(
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n{properties}end_header\n".encode()
    )
    handle.write(np.ascontiguousarray(points, dtype="<f8").tobytes())
