"""Point clouds from and to files of any supported format."""

from __future__ import annotations

import importlib
import logging
import os
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.io.checks import clean_points, format_errors, memory_limit, missing
from tear3d.io.cloud import Cloud
from tear3d.io.columns import tidy
from tear3d.io.pcd_write import floats_do
from tear3d.io.reference import reference_of
from tear3d.problem.arrays import finite_rows

MODULES = {
    ".ply": "ply",
    ".pcd": "pcd",
    ".las": "las",
    ".laz": "las",
    ".e57": "e57",
    ".npy": "npy",
    ".npz": "npz",
    ".obj": "obj",
    ".bin": "kitti",
    ".ptx": "ptx",
    **dict.fromkeys((".stl", ".glb", ".off"), "mesh"),
    **dict.fromkeys((".ply.gz", ".pcd.gz", ".xyz.gz", ".csv.gz", ".txt.gz", ".pts.gz", ".ptx.gz"), "gz"),
    **dict.fromkeys((".xyz", ".csv", ".txt", ".pts", ".asc", ".xyzn", ".xyzrgb"), "text"),
}
WRITERS = {
    ".ply": "ply_write",
    ".pcd": "pcd_write",
    **dict.fromkeys((".las", ".laz"), "las_write"),
    ".e57": "e57_write",
    ".npy": "npy",
    ".npz": "npz",
    **dict.fromkeys((".xyz", ".xyzn", ".xyzrgb"), "text_write"),
    **dict.fromkeys((".ply.gz", ".pcd.gz", ".xyz.gz"), "gz"),
}
"""The modules that write: `write(handle, cloud, suffix)`."""
REFERENCED = (".las", ".laz", ".npz")
"""What holds a coordinate reference."""
logger = logging.getLogger(__name__)
MAGIC = {
    b"ply\n": "ply",
    b"ply\r": "ply",
    b"# .PCD": "pcd",
    b"LASF": "las",
    b"ASTM-E57": "e57",
    b"\x93NUMPY": "npy",
    b"\x1f\x8b\x08": "gz",
}


def read_cloud(
    path: str | os.PathLike[str], *, max_bytes: int | None = None, keep_invalid: bool = False
) -> NDArray[np.float64]:
    """Read the points of a file.

    The format follows from the first bytes where they tell, and from the suffix otherwise: PLY, PCD,
    LAS/LAZ, E57, NPY/NPZ, OBJ (vertices), KITTI `.bin`, PTX, and text as `.xyz`, `.csv`, `.txt`, `.pts`, `.asc`,
    `.xyzn`, `.xyzrgb`; PLY, PCD, PTX and text also compressed as `.ply.gz` and so on. Of a mesh
    (STL, GLB, OFF) these are 100 000 points on its surface; `Cloud.sampled` takes more or fewer, and also the faces of
    OBJ and PLY.

    Parameters
    ----------
    path
        The file. Points with NaN or infinite coordinates, and those an E57 file marks as invalid, are dropped with a
        logged warning.
    max_bytes
        How much memory the contents of a binary file may take; a file that declares more is refused before
        anything is allocated. By default 256 MiB, or 100 times the file's size if that is more, which only
        an extremely well compressed file exceeds.
    keep_invalid
        Keep those points instead, as NaN or infinite, so that rows are those of the file.

    Returns
    -------
    ndarray
        N×3 float64, with one finite point at least. As float64 as the file has it: nothing is rounded on the way.

    Raises
    ------
    FileFormatError
        The file is empty, truncated, damaged, declares more than it holds or expands to more than `max_bytes`.
    MissingExtraError
        The format needs a package that is not installed.
    InputError
        There is no such file, or its format is unknown.
    """
    path = Path(path)
    module = module_of(path)
    with format_errors(path, module.KIND), np.errstate(all="ignore"):
        return clean_points(path, module.read(path, memory_limit(path, max_bytes)), keep_invalid=keep_invalid)


def read_whole(path: str | os.PathLike[str], *, max_bytes: int | None = None, keep_invalid: bool = False) -> Cloud:
    """Read points and attributes; see `read_cloud`."""
    path = Path(path)
    module = module_of(path)
    with format_errors(path, module.KIND), np.errstate(all="ignore"):
        limit = memory_limit(path, max_bytes)
        if hasattr(module, "read_all"):
            found = module.read_all(path, limit)
            points, attributes, facts = found.points, found.attributes, found.facts
        else:
            points, attributes, facts = module.read(path, limit), {}, {}
        every = clean_points(path, points, keep_invalid=True)
        cloud = Cloud(every, tidy(path, attributes, len(every)), format=_format(path, module), **facts)
        finite = finite_rows(every)
        if keep_invalid or finite.all():
            return cloud
        points = clean_points(path, every)
        return replace(cloud.take(finite), points=points)


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix in lower case, with what was compressed: `.ply.gz`."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def keeping_suffix(cloud: Cloud) -> str:
    """The format that the cloud came in, if it can be written with attributes, and `.ply` otherwise: also for PCD where
    its floats, the only numbers that all programs read there, are too coarse for the coordinates."""
    needed = {".xyzn": "normals", ".xyzrgb": "colors"}.get(cloud.format)
    lacking = needed is not None and needed not in cloud.attributes
    coarse = cloud.format.startswith(".pcd") and not floats_do(cloud.points)
    return ".ply" if cloud.format not in WRITERS or cloud.format == ".npy" or lacking or coarse else cloud.format


def _format(path: Path, module: ModuleType) -> str:
    name = module.__name__.rpartition(".")[2]
    suffix = suffix_of(path)
    return suffix if MODULES.get(suffix) == name else next(key for key, value in MODULES.items() if value == name)


def module_of(path: Path) -> ModuleType:
    """What reads this file."""
    if not path.is_file():
        raise InputError(f"{path}: {missing(path)}")
    try:
        with path.open("rb") as handle:
            start = handle.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    by_content = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    name = by_content or MODULES.get(suffix_of(path))
    if name is None:
        raise InputError(
            f"{path}: unknown format {path.suffix or '(no suffix)'}; expected {', '.join(sorted(MODULES))}"
        )
    return importlib.import_module(f"tear3d.io.{name}")


def write_cloud(path: str | os.PathLike[str], points: ArrayLike | Cloud) -> None:
    """Write a cloud, all or nothing, in full precision but for what is said below.

    Parameters
    ----------
    path
        The file; its suffix is the format: PLY and PCD (binary), LAS and LAZ, E57, NPY, NPZ, or text
        as `.xyz`, `.xyzn` or `.xyzrgb`; also `.ply.gz`, `.pcd.gz` and `.xyz.gz`. LAS rounds coordinates to its scale,
        and keeps that of a LAS file; E57 is written in single precision around the middle of the points. PCD has
        floats, the only numbers that all programs read there, unless these were off by more than 2⁻²² of the size of
        the cloud: then doubles, with a logged warning.
    points
        N×3 finite coordinates, N ≥ 1, or a `Cloud`, or what `Cloud.of` makes one of: it is written with all
        attributes that the format has a place for, and a logged warning names the others.
    """
    path = Path(path)
    suffix = suffix_of(path)
    name = WRITERS.get(suffix)
    if name is None:
        raise InputError(f"{path}: cannot write {path.suffix or 'without a suffix'}; use {', '.join(WRITERS)}")
    named = isinstance(points, np.ndarray) and bool(points.dtype.names)
    if named or any(hasattr(points, name) for name in ("columns", "points", "point")):
        cloud = Cloud.of(points)
    else:
        try:
            array = np.ascontiguousarray(points, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"points cannot be turned into numbers ({error}); pass an N×3 array") from error
        if array.ndim != 2 or array.shape[1] != 3:
            raise InputError(f"points has shape {array.shape}: pass at least one point, points as rows (N×3)")
        cloud = Cloud(array)
    if len(cloud) == 0:
        raise InputError("points has shape (0, 3): pass at least one point, points as rows (N×3)")
    if not np.isfinite(cloud.points).all():
        raise InputError("points has NaN or infinite coordinates; remove these rows before writing")
    reference = reference_of(cloud)
    if reference is not None and (suffix not in REFERENCED or (cloud.crs is None and suffix == ".npz")):
        logger.warning("%s has no place for the coordinate reference %s", suffix, reference.name)
    module = importlib.import_module(f"tear3d.io.{name}")
    with atomic_write(path) as handle:
        module.write(handle, cloud, suffix)
