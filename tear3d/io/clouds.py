"""Point clouds from and to files of any supported format."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.io.checks import clean_points, format_errors, memory_limit

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
    **dict.fromkeys((".xyz", ".csv", ".txt", ".pts", ".asc"), "text"),
}
WRITERS = {".ply": "ply", ".pcd": "pcd", ".npy": "npy", ".xyz": "text"}
MAGIC = {
    b"ply\n": "ply",
    b"ply\r": "ply",
    b"# .PCD": "pcd",
    b"LASF": "las",
    b"ASTM-E57": "e57",
    b"\x93NUMPY": "npy",
}


def read_cloud(
    path: str | os.PathLike[str], *, max_bytes: int | None = None, keep_invalid: bool = False
) -> NDArray[np.float64]:
    """Read the points of a file.

    The format follows from the first bytes where they tell, and from the suffix otherwise: PLY, PCD,
    LAS/LAZ, E57, NPY/NPZ, OBJ (vertices), KITTI `.bin`, and text as `.xyz`, `.csv`, `.txt`, `.pts`, `.asc`.

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
    if not path.is_file():
        raise InputError(f"{path}: {'is not a regular file' if path.exists() else 'no such file'}")
    try:
        with path.open("rb") as handle:
            start = handle.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    by_content = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    name = by_content or MODULES.get(path.suffix.lower())
    if name is None:
        raise InputError(
            f"{path}: unknown format {path.suffix or '(no suffix)'}; expected {', '.join(sorted(MODULES))}"
        )
    module = importlib.import_module(f"tear3d.io.{name}")
    with format_errors(path, module.KIND), np.errstate(all="ignore"):
        return clean_points(path, module.read(path, memory_limit(path, max_bytes)), keep_invalid=keep_invalid)


def write_cloud(path: str | os.PathLike[str], points: ArrayLike) -> None:
    """Write points as PLY or PCD (binary, double), NPY or XYZ, in full precision and all or nothing.

    Parameters
    ----------
    path
        The file; its suffix (`.ply`, `.pcd`, `.npy`, `.xyz`) is the format.
    points
        N×3 finite coordinates, N ≥ 1.
    """
    path = Path(path)
    name = WRITERS.get(path.suffix.lower())
    if name is None:
        raise InputError(f"{path}: cannot write {path.suffix or 'without a suffix'}; use {', '.join(WRITERS)}")
    try:
        array = np.ascontiguousarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"points cannot be turned into numbers ({error}); pass an N×3 array") from error
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise InputError(f"points has shape {array.shape}: pass at least one point, points as rows (N×3)")
    if not np.isfinite(array).all():
        raise InputError("points has NaN or infinite coordinates; remove these rows before writing")
    module = importlib.import_module(f"tear3d.io.{name}")
    with atomic_write(path) as handle:
        module.write(handle, array)
