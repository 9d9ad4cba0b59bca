"""Poses as text (4×4, KITTI line, TUM line) and NPZ."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import FileFormatError, InputError
from tear3d.io.arrays import Archive
from tear3d.io.atomic import atomic_write
from tear3d.io.checks import format_errors, missing

PoseStyle = Literal["matrix", "kitti", "tum"]
MAX_BYTES = 1 << 16
MAX_UNPACKED = 1 << 12
KEY = "transformation"


def write_pose(path: str | os.PathLike[str], T: ArrayLike, style: PoseStyle = "matrix") -> None:
    """Write a pose in full precision, all or nothing.

    Parameters
    ----------
    path
        The file; `.npz` gives an archive with the array `transformation`, anything else text.
    T
        4×4, last row 0 0 0 1.
    style
        `matrix`: four rows of four; `kitti`: one line, the first three rows; `tum`: one line,
        `0 tx ty tz qx qy qz qw`, for rotations only.
    """
    try:
        pose = np.asarray(T, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"T cannot be turned into numbers ({error}); pass a 4×4 array") from error
    problem = _problem(pose)
    if problem:
        raise InputError(f"T {problem}")
    if style not in ("matrix", "kitti", "tum"):
        raise InputError(f"style is {style!r}; expected matrix, kitti or tum")
    if style == "tum":
        rows = [_to_tum(pose)]
    else:
        rows = [pose[:3].ravel()] if style == "kitti" else list(pose)
    with atomic_write(path) as handle:
        if Path(path).suffix.lower() == ".npz":
            np.savez(handle, transformation=pose)
        else:
            np.savetxt(handle, np.array(rows), fmt="%.17g")


def read_pose(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    """Read one pose: 4×4 or 3×4 text, a KITTI or TUM line, or an NPZ with `transformation`.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ndarray
        4×4 float64.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: {missing(path)}")
    if path.stat().st_size > MAX_BYTES:
        raise FileFormatError(f"{path}: is larger than {MAX_BYTES} bytes; expected one pose")
    with format_errors(path, "pose"):
        pose = _read_npz(path) if path.suffix.lower() == ".npz" else _read_text(path)
    problem = _problem(pose)
    if problem:
        raise FileFormatError(f"{path}: the pose {problem}")
    return pose


def _problem(pose: NDArray[np.float64]) -> str | None:
    if pose.shape != (4, 4):
        return f"has shape {pose.shape}; expected 4×4"
    if not np.isfinite(pose).all():
        return "has NaN or infinite entries"
    if not np.array_equal(pose[3], [0, 0, 0, 1]):
        return f"has the last row {pose[3].tolist()}; expected 0 0 0 1"
    if np.linalg.det(pose[:3, :3]) <= 0:
        return "has a 3×3 part that is no rotation (determinant not positive)"
    return None


def _to_tum(pose: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.spatial.transform import Rotation

    rotation = pose[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6:
        raise InputError("T has a scale or shear, which a TUM line cannot hold; use style='matrix'")
    return np.concatenate([[0.0], pose[:3, 3], Rotation.from_matrix(rotation).as_quat()])


def _read_text(path: Path) -> NDArray[np.float64]:
    lines = [line.split("#")[0] for line in path.read_text("utf-8-sig").replace(",", " ").splitlines()]
    rows = [[float(word) for word in line.split()] for line in lines if line.strip()]
    shape = (len(rows), len(rows[0]) if rows else 0)
    if any(len(row) != shape[1] for row in rows) or shape not in ((4, 4), (3, 4), (1, 16), (1, 12), (1, 8)):
        raise FileFormatError(
            f"{path}: has rows of {[len(row) for row in rows][:6]} numbers; expected 4×4, "
            "a KITTI line (12 numbers) or a TUM line (8 numbers)"
        )
    numbers = np.array(rows).ravel()
    pose = np.eye(4)
    if len(numbers) == 8:
        from scipy.spatial.transform import Rotation

        pose[:3, :3] = Rotation.from_quat(numbers[4:]).as_matrix()
        pose[:3, 3] = numbers[1:4]
    else:
        pose[: len(numbers) // 4] = numbers.reshape(-1, 4)
    return pose


def _read_npz(path: Path) -> NDArray[np.float64]:
    with Archive(path, MAX_UNPACKED) as archive:
        if KEY not in archive.names:
            raise FileFormatError(f"{path}: holds {', '.join(archive.names)[:100] or 'no arrays'}; expected {KEY}")
        header = archive.header(KEY)
        if header.shape != (4, 4) or not header.is_real:
            raise FileFormatError(
                f"{path}: {KEY} has shape {header.shape} and type {header.dtype}; expected 4×4 numbers"
            )
        return archive.read(KEY).astype(np.float64)
