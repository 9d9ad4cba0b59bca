"""Clouds in archives of NumPy arrays: the points, and every attribute under its name."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io import npy
from tear3d.io.arrays import Archive, memory_of
from tear3d.io.checks import check_memory
from tear3d.io.cloud import RESERVED, Cloud, Parts

KIND = "NPZ"
NAMES = ("points", "xyz", "cloud", "vertices")
CRS, VIEWPOINT = "crs", "viewpoint"
LONGEST_CRS = 1 << 16
FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def read(path: Path, limit: int) -> NDArray[Any]:
    with Archive(path, limit) as archive:
        return npy.points_of(archive.read(_chosen(path, archive)))


def read_all(path: Path, limit: int) -> Parts:
    with Archive(path, limit) as archive:
        chosen = _chosen(path, archive)
        headers = {name: archive.header(name) for name in archive.names}
        count = headers[chosen].shape[0]
        names = [
            name
            for name, header in headers.items()
            if name not in (chosen, CRS, VIEWPOINT, *RESERVED)
            and (header.is_real or header.dtype.kind == "b")
            and len(header.shape) in (1, 2)
            and header.shape[0] == count
        ]
        needed = sum(memory_of(headers[name]) for name in (chosen, *names))
        check_memory(path, "its arrays", needed, limit)
        array = archive.read(chosen)
        attributes = npy.attributes_of(array) | {name: archive.read(name) for name in names}
        facts: dict[str, Any] = {}
        if CRS in headers and headers[CRS].dtype.kind == "U" and headers[CRS].shape == ():
            check_memory(path, "its coordinate reference system", headers[CRS].nbytes, 4 * LONGEST_CRS)
            facts[CRS] = str(archive.read(CRS))
        if VIEWPOINT in headers and headers[VIEWPOINT].shape == (7,) and headers[VIEWPOINT].is_real:
            viewpoint = archive.read(VIEWPOINT).astype(np.float64)
            if np.isfinite(viewpoint).all() and viewpoint[3:].any():
                facts[VIEWPOINT] = viewpoint
    return Parts(npy.points_of(array), attributes, facts)


def _chosen(path: Path, archive: Archive) -> str:
    """The name of the array that has the points."""
    names = archive.names
    chosen = next((name for name in NAMES if name in names), None)
    if chosen is None:
        if len(names) != 1:
            raise FileFormatError(
                f"{path}: holds {', '.join(names)[:100] or 'no arrays'}; "
                f"expected one array or one named {', '.join(NAMES)}"
            )
        chosen = names[0]
    npy.check_points(path, chosen, archive.header(chosen))
    return chosen


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    arrays: dict[str, Any] = {"points": cloud.points}
    arrays |= {f"{name}_" if name in (CRS, VIEWPOINT) else name: v for name, v in cloud.attributes.items()}
    if cloud.crs is not None:
        arrays[CRS] = np.array(cloud.crs)
    if cloud.viewpoint is not None:
        arrays[VIEWPOINT] = cloud.viewpoint
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", FIRST_DAY), "w", force_zip64=True) as member:
                npy_format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)  # also of no dimension
