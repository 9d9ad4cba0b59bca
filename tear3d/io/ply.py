"""PLY: ascii and both byte orders. Only the elements up to the vertices are looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, check_memory, header_lines
from tear3d.io.cloud import Parts
from tear3d.io.columns import as_type, grouped
from tear3d.io.ply_header import Element, Header, parse
from tear3d.io.ply_lists import Rows

KIND = "PLY"
AXES = "xyz"

logger = logging.getLogger(__name__)


def read(path: Path, limit: int) -> NDArray[Any]:
    with path.open("rb") as handle:
        header = _header(path, handle, limit, everything=False)
        if header.vertices.count == 0:
            return np.empty((0, 3))
        if not header.order:
            return _read_ascii(path, handle, header, AXES)
        return _points(_read_binary(path, handle.tell(), header, AXES))


def read_all(path: Path, limit: int) -> Parts:
    with path.open("rb") as handle:
        header = _header(path, handle, limit, everything=True)
        types = {p.name: p.type for p in reversed(header.vertices.properties) if p.length is None}
        names = [*AXES, *(p.name for p in header.vertices.properties if p.name in types and p.name not in AXES)]
        names = list(dict.fromkeys(names))
        lists = [p.name for p in header.vertices.properties if p.length is not None]
        if lists:
            logger.warning("%s: lists are left out: %s", path, ", ".join(lists)[:100])
        if header.vertices.count == 0:
            return Parts(np.empty((0, 3)), {})
        if not header.order:
            table = _read_ascii(path, handle, header, names)
            columns: dict[str, NDArray[Any]] = dict(zip(names, table.T, strict=True))
        else:
            columns = _read_binary(path, handle.tell(), header, names)
        points = _points(columns)
        others = {name: as_type(columns[name], types[name]) for name in names[3:]}
        return Parts(points, grouped(others))


def _header(path: Path, handle: BinaryIO, limit: int, *, everything: bool) -> Header:
    """What the file declares, compared with its size."""
    header = parse(path, header_lines(handle, path, KIND, b"end_header"))
    ascii_file, count, start = not header.order, header.vertices.count, handle.tell()
    least = sum(e.count * e.least_bytes(ascii_file) for e in (*header.before, header.vertices))
    what = f"its header ({count} vertices)"
    # The last line of an ascii file may lack its newline.
    check_declared(path, what, least - ascii_file, path.stat().st_size - start)
    columns = len(header.vertices.properties) if ascii_file or everything else len(AXES)
    needed = 8 * columns * count + (header.vertices.least_bytes(False) * count if everything else 0)
    check_memory(path, what, needed, limit)
    return header


def _points(columns: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    points = np.empty((len(columns["x"]), 3))
    for column, axis in enumerate(AXES):
        points[:, column] = columns[axis]
    return points


def _read_binary(path: Path, start: int, header: Header, wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The numbers of these names, as they lie in the file."""
    data = np.memmap(path, np.uint8, mode="r")
    vertices, order = header.vertices, header.order
    for element in header.before:
        if element.has_lists:
            start = Rows(path, data, start, element, order).skip()
        else:
            start += element.count * element.least_bytes(False)
    check_declared(path, "its vertices", start + vertices.count * vertices.least_bytes(False), len(data))
    if vertices.has_lists:
        return dict(zip(wanted, Rows(path, data, start, vertices, order).columns(wanted).T, strict=True))
    names = [p.name for p in vertices.properties]
    ends = np.cumsum([p.least_bytes for p in vertices.properties])
    places = [names.index(name) for name in wanted]
    rows = np.dtype(
        {
            "names": list(wanted),
            "formats": [order + vertices.properties[i].type for i in places],
            "offsets": [int(ends[i]) - vertices.properties[i].least_bytes for i in places],
            "itemsize": int(ends[-1]),
        }
    )
    table = np.ndarray(vertices.count, rows, data.data, start)
    return {name: table[name] for name in wanted}


def _read_ascii(path: Path, handle: BinaryIO, header: Header, wanted: Sequence[str]) -> NDArray[np.float64]:
    vertices = header.vertices
    lines = (line for line in handle if not line.isspace())
    skipped = sum(element.count for element in header.before)
    rows: Iterator[bytes] = islice(lines, skipped, skipped + vertices.count)
    names = [p.name for p in vertices.properties]
    if vertices.has_lists:
        rows, names = _without_lists(path, rows, vertices, wanted), list(wanted)
    first = next(rows, None)
    if first is None:
        raise FileFormatError(f"{path}: declares {vertices.count} vertices but holds none")
    table = np.loadtxt(chain([first], rows), comments=None, ndmin=2)
    if len(table) != vertices.count:
        raise FileFormatError(f"{path}: declares {vertices.count} vertices but holds {len(table)}")
    if table.shape[1] != len(names):
        raise FileFormatError(f"{path}: declares {len(names)} numbers per vertex but has {table.shape[1]}")
    return table[:, [names.index(name) for name in wanted]]


def _without_lists(path: Path, rows: Iterator[bytes], vertices: Element, wanted: Sequence[str]) -> Iterator[bytes]:
    """The numbers of these names alone."""
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
        yield b" ".join(found[name] for name in wanted) + b"\n"


def _length(word: bytes) -> int:
    if not word.isdigit() or len(word) > 18:
        raise ValueError(word)
    return int(word)
