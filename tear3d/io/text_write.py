"""Text: one point per line, after a comment that names the columns."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.io.cloud import Cloud
from tear3d.io.columns import spread, warn_dropped
from tear3d.io.joining import recoloured

ONLY = {".xyzn": "normals", ".xyzrgb": "colors"}
"""Columns without names: these are known by the suffix."""
FLOATS = {2: "%.5g", 4: "%.9g", 8: "%.17g"}
"""As many digits as bring the number back, by its bytes."""


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    attributes = dict(cloud.attributes)
    if suffix in ONLY:
        warn_dropped(suffix, [name for name in attributes if name != ONLY[suffix]])
        attributes = {ONLY[suffix]: _only(cloud, suffix)}
    columns = dict(zip("xyz", cloud.points.T, strict=True)) | spread(attributes)
    if len(columns) == 3:
        np.savetxt(handle, cloud.points, fmt="%.17g")
        return
    rows = np.empty(len(cloud), [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        rows[name] = values
    style = [FLOATS[values.dtype.itemsize] if values.dtype.kind == "f" else "%d" for values in columns.values()]
    header = "" if suffix in ONLY else " ".join(columns)
    np.savetxt(handle, rows, fmt=style, header=header, encoding="ascii")


def _only(cloud: Cloud, suffix: str) -> NDArray[Any]:
    """The attribute that a file of this suffix has, colours from 0 to 1."""
    name = ONLY[suffix]
    if name not in cloud.attributes:
        raise InputError(f"the cloud has no {name}, which {suffix} files need; use .xyz")
    values = cloud.attributes[name]
    return recoloured(values, np.dtype(np.float64)) if name == "colors" else values
