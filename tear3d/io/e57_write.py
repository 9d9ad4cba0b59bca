"""E57, through pye57: one scan, in single precision relative to its pose."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.io.checks import load_package
from tear3d.io.cloud import Cloud
from tear3d.io.columns import warn_dropped
from tear3d.io.joining import recoloured

GRID = ("rowIndex", "columnIndex")
KEPT = ("colors", "intensity", *GRID)
COLOURS = ("colorRed", "colorGreen", "colorBlue")
NEARBY = 8.0
"""A scanner farther from its points than that many times their size would cost them three bits and more."""


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    pye57 = load_package("pye57", "e57", "writing E57 files")
    local, rotation, translation = _local(cloud)
    data = {f"cartesian{axis}": column for axis, column in zip("XYZ", _singles(local), strict=True)}
    data |= _attributes(cloud)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud.e57"
        try:
            file = pye57.E57(str(path), mode="w")
            try:
                file.write_scan_raw(data, rotation=rotation, translation=translation)
            finally:
                file.close()
        except Exception as error:
            raise InputError(f"the cloud cannot be written as E57 ({str(error).split(chr(10))[0]})") from error
        with path.open("rb") as written:
            shutil.copyfileobj(written, handle)


def _singles(local: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """As the package rounds them, so that its bounds hold."""
    return [np.ascontiguousarray(column.astype(np.float32), dtype=np.float64) for column in local.T]


def _attributes(cloud: Cloud) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    left_out = [name for name in cloud.attributes if name not in KEPT]
    for name in [name for name in cloud.attributes if name in KEPT]:
        values = cloud.attributes[name]
        if name == "colors":
            colours = recoloured(values, np.dtype(np.uint8))
            found |= {each: np.ascontiguousarray(column) for each, column in zip(COLOURS, colours.T, strict=True)}
        elif values.ndim != 1 or not np.isfinite(values).all():
            left_out.append(name)
        elif name == "intensity":
            found[name] = values.astype(np.float32)
        elif values.min() >= 0 and values.max() <= 65535 and all(each in cloud.attributes for each in GRID):
            found[name] = values.astype(np.uint16)
        else:
            left_out.append(name)
    if not all(name in found for name in GRID):
        left_out += [name for name in GRID if found.pop(name, None) is not None]
    warn_dropped("E57", left_out)
    return found


def _local(cloud: Cloud) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Points relative to the scanner, or to their middle where it is far away or unknown."""
    middle = cloud.points.min(axis=0) / 2.0 + cloud.points.max(axis=0) / 2.0
    local, rotation = cloud.points - middle, np.array([1.0, 0.0, 0.0, 0.0])
    if cloud.viewpoint is None:
        return local, rotation, middle
    place = cloud.viewpoint[:3]
    if np.abs(cloud.points - place).max() > NEARBY * np.abs(local).max():
        return local, rotation, middle
    from scipy.spatial.transform import Rotation

    rotation = cloud.viewpoint[3:] / np.linalg.norm(cloud.viewpoint[3:])
    turn = Rotation.from_quat(rotation[[1, 2, 3, 0]]).as_matrix()
    return (cloud.points - place) @ turn, rotation, place
