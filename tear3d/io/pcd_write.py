"""PCD, binary: coordinates as floats, which is what other programs read, where these are fine enough; attributes in
their own types."""

from __future__ import annotations

import logging
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.io.cloud import RESERVED, TRIPLES, Cloud
from tear3d.io.columns import COLOURS, Columns, plain_name
from tear3d.io.joining import recoloured

NORMALS = ("normal_x", "normal_y", "normal_z")
TYPES = {"b": "u1", "f2": "f4"}
NOWHERE = (0, 0, 0, 1, 0, 0, 0)
FINE = 2.0**-22
"""What rounding may cost, of the size of the cloud: 0.02 mm of 100 m, which no scanner measures. Floats keep to it when
no point is farther from the origin than eight times that size."""

logger = logging.getLogger(__name__)


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    columns = _columns(cloud)
    rows = np.empty(len(cloud), [(name, *_layout(values)) for name, values in columns.items()])
    for name, values in columns.items():
        rows[name] = values
    bases = [rows.dtype[name].base for name in columns]
    viewpoint = NOWHERE if cloud.viewpoint is None else cloud.viewpoint
    lines = {
        "VERSION": ["0.7"],
        "FIELDS": columns,
        "SIZE": [base.itemsize for base in bases],
        "TYPE": [base.kind.upper() for base in bases],
        "COUNT": [values.shape[1] if values.ndim == 2 else 1 for values in columns.values()],
        "WIDTH": [len(cloud)],
        "HEIGHT": [1],
        "VIEWPOINT": [f"{number:.17g}" for number in viewpoint],
        "POINTS": [len(cloud)],
        "DATA": ["binary"],
    }
    handle.write("".join(f"{key} {' '.join(map(str, words))}\n" for key, words in lines.items()).encode("ascii"))
    handle.write(rows.tobytes())


def _columns(cloud: Cloud) -> Columns:
    columns: Columns = dict(zip("xyz", coordinates(cloud.points).T, strict=True))
    triples = sorted(cloud.attributes.items(), key=lambda item: item[0] not in TRIPLES)  # their fields have fixed names
    for name, values in triples:
        if name == "colors" and values.dtype == np.uint8:
            columns["rgb"] = _packed(values)
        elif name == "colors":
            # Other programs know packed bytes only; what these lose is in fields of their own.
            columns |= dict(zip(COLOURS, values.T, strict=True)) | {"rgb": _packed(recoloured(values, np.dtype("u1")))}
        elif name == "normals":
            columns |= dict(zip(NORMALS, values.astype(np.float32).T, strict=True))
        else:
            single = values.ndim == 2 and values.shape[1] == 1
            columns[plain_name(name, (*RESERVED, "_", *columns))] = values[:, 0] if single else values
    return columns


def coordinates(points: NDArray[np.float64]) -> NDArray[Any]:
    """As floats where these are fine enough, and as doubles otherwise; a log says which digits that costs."""
    with np.errstate(over="ignore"):
        short = points.astype(np.float32)
    off = float(np.abs(short - points).max())
    if off == 0.0:
        return short
    if floats_do(points):
        logger.info("coordinates are written to PCD as floats, off by %.2g at most", off)
        return short
    logger.warning(
        "coordinates are written to PCD as doubles, since floats would be off by up to %.2g: PCL and Open3D's "
        "read_point_cloud cannot read them; .ply and .laz have no such limit",
        off,
    )
    return points


def floats_do(points: NDArray[np.float64]) -> bool:
    """Whether floats are fine enough for these coordinates."""
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(points.astype(np.float32) - points).max()
        return bool(np.isfinite(off) and off <= FINE * np.ptp(points, axis=0).max())


def _packed(colours: NDArray[np.uint8]) -> NDArray[np.float32]:
    red, green, blue = colours.T.astype(np.uint32)
    return ((red << 16) | (green << 8) | blue).view(np.float32)


def _layout(values: np.ndarray) -> tuple[str, tuple[int, ...]]:
    """The type in the file, little endian, and the shape of one value."""
    kind = TYPES.get(values.dtype.kind, TYPES.get(values.dtype.str[1:], values.dtype.str[1:]))
    return f"<{kind}", (values.shape[1],) if values.ndim == 2 else ()
