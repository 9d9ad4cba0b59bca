"""Clouds as the commands that pass them on have them: read, moved, joined, written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tear3d.problem.arrays import FloatArray

FORMATS = ".ply, .pcd, .las, .laz, .e57, .xyz, .csv, .txt, .pts, .asc, .npy, .npz, .obj or KITTI's .bin"

WRITTEN = ".ply, .pcd, .npy or .xyz"


def read(path: Path) -> FloatArray:
    """The points of a file."""
    from tear3d.cli.outputs import check_input
    from tear3d.io.clouds import read_cloud

    check_input(path)
    return read_cloud(path)


def write(path: Path, cloud: FloatArray) -> None:
    """The folder of the file is made where it is missing."""
    from tear3d.io.clouds import write_cloud

    path.parent.mkdir(parents=True, exist_ok=True)
    write_cloud(path, cloud)


def read_pose(path: Path) -> FloatArray:
    """4×4."""
    from tear3d.cli.outputs import check_input
    from tear3d.io import poses

    check_input(path)
    return poses.read_pose(path)


def inverted(pose: FloatArray) -> FloatArray:
    import numpy as np

    back = np.eye(4)
    back[:3, :3] = np.linalg.inv(pose[:3, :3])
    back[:3, 3] = -back[:3, :3] @ pose[:3, 3]
    return back


def moved(cloud: FloatArray, pose: FloatArray) -> FloatArray:
    return cloud @ pose[:3, :3].T + pose[:3, 3]


def joined(clouds: Sequence[FloatArray]) -> FloatArray:
    import numpy as np

    return np.concatenate(clouds)


def thinned(cloud: FloatArray, voxel_size: float) -> FloatArray:
    """One point for each voxel, the middle of those in it."""
    from tear3d.features.voxel import check_voxel_size, voxel_downsample

    check_voxel_size(voxel_size)
    return voxel_downsample(cloud, voxel_size)


def points(cloud: FloatArray) -> FloatArray:
    return cloud


def attributes(cloud: FloatArray) -> tuple[str, ...]:
    """The names of what each point has besides its place."""
    return ()


def kind(path: Path) -> str:
    """The format of a file, which its first bytes or its suffix tell."""
    from tear3d.io.clouds import MAGIC, MODULES

    with path.open("rb") as file:
        start = file.read(16)
    by_content = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    return by_content or MODULES.get(path.suffix.lower(), "unknown")


def check(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name that no cloud can be written to, or that is one of the inputs, before the work."""
    from tear3d.cli.outputs import check_new
    from tear3d.errors import InputError
    from tear3d.io.clouds import WRITERS

    check_new(path, inputs)
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: cannot write {path.suffix or 'without a suffix'}; use {', '.join(WRITERS)}")
