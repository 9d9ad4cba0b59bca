"""PCD, binary: coordinates in full precision, as floats where these hold them; attributes in their own types."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from tear3d.io.cloud import RESERVED, TRIPLES, Cloud
from tear3d.io.columns import COLOURS, Columns, plain_name

NORMALS = ("normal_x", "normal_y", "normal_z")
TYPES = {"b": "u1", "f2": "f4"}
NOWHERE = (0, 0, 0, 1, 0, 0, 0)


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
    with np.errstate(over="ignore"):
        short = cloud.points.astype(np.float32)
    # Not every program reads doubles.
    points = short if np.array_equal(short, cloud.points) else cloud.points
    columns: Columns = dict(zip("xyz", points.T, strict=True))
    triples = sorted(cloud.attributes.items(), key=lambda item: item[0] not in TRIPLES)  # their fields have fixed names
    for name, values in triples:
        if name == "colors" and values.dtype == np.uint8:
            red, green, blue = values.T.astype(np.uint32)
            columns["rgb"] = ((red << 16) | (green << 8) | blue).view(np.float32)
        elif name in ("colors", "normals"):
            columns |= dict(zip(COLOURS if name == "colors" else NORMALS, values.T, strict=True))
        else:
            single = values.ndim == 2 and values.shape[1] == 1
            columns[plain_name(name, (*RESERVED, "_", *columns))] = values[:, 0] if single else values
    return columns


def _layout(values: np.ndarray) -> tuple[str, tuple[int, ...]]:
    """The type in the file, little endian, and the shape of one value."""
    kind = TYPES.get(values.dtype.kind, TYPES.get(values.dtype.str[1:], values.dtype.str[1:]))
    return f"<{kind}", (values.shape[1],) if values.ndim == 2 else ()
