"""PLY, binary: coordinates in full precision, attributes in their own types."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from tear3d.io.cloud import Cloud
from tear3d.io.columns import EXACT, Columns, spread, warn_dropped

NAMES = dict(
    zip(
        ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"),
        ("char", "uchar", "short", "ushort", "int", "uint", "float", "double"),
        strict=True,
    )
)


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    columns: Columns = dict(zip("xyz", cloud.points.T, strict=True))
    types = dict.fromkeys("xyz", "f8")
    for name, values in spread(cloud.attributes).items():
        kind = _type(values)
        if kind is None:
            warn_dropped("PLY", [name])
        else:
            columns[name], types[name] = values, kind
    rows = np.empty(len(cloud), [(name, f"<{kind}") for name, kind in types.items()])
    for name, values in columns.items():
        rows[name] = values
    properties = "".join(f"property {NAMES[kind]} {name}\n" for name, kind in types.items())
    handle.write(
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(cloud)}\n{properties}end_header\n".encode()
    )
    handle.write(rows.tobytes())


def _type(values: np.ndarray) -> str | None:
    """The type that holds these numbers: PLY has no 64-bit integers."""
    kind = {"b1": "u1", "f2": "f4"}.get(values.dtype.str[1:], values.dtype.str[1:])
    if kind in NAMES:
        return kind
    if values.dtype.kind not in "iu":
        return "f8"
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if low >= -(2**31) and high < 2**31:
        return "i4"
    return "f8" if max(-low, high) <= EXACT else None
