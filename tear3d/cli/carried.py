"""Clouds as the commands that pass them on have them: read, moved, joined, written, with all that points carry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tear3d.io.cloud import Cloud
    from tear3d.problem.arrays import FloatArray

FORMATS = (
    ".ply, .pcd, .las, .laz, .e57, .ptx, .xyz, .csv, .txt, .pts, .asc, .npy, .npz, .obj, .stl, .glb, .off or KITTI's "
    ".bin; text, .ply, .pcd and .ptx also with .gz"
)

WRITTEN = ".ply, .pcd, .las, .laz, .e57, .npy, .npz, .xyz, .xyzn or .xyzrgb; .ply, .pcd and .xyz also with .gz"


def read(path: Path) -> Cloud:
    """The cloud of a file."""
    from tear3d.cli.outputs import check_input
    from tear3d.io.cloud import Cloud

    check_input(path)
    return Cloud.read(path)


def write(path: Path, cloud: Cloud) -> None:
    """The folder of the file is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cloud.write(path)


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


def moved(cloud: Cloud, pose: FloatArray) -> Cloud:
    return cloud.transformed(pose)


def joined(clouds: Sequence[Cloud]) -> Cloud:
    from tear3d.io.cloud import Cloud

    return Cloud.joined(clouds)


def thinned(cloud: Cloud, voxel_size: float) -> Cloud:
    """One point for each voxel, the middle of those in it, with what they carry."""
    from tear3d.clouds.thin import downsample

    return downsample(cloud, voxel_size)


def points(cloud: Cloud) -> FloatArray:
    return cloud.points


def attributes(cloud: Cloud) -> tuple[str, ...]:
    """The names of what each point has besides its place."""
    return tuple(cloud.attributes)


def reference(cloud: Cloud) -> str | None:
    """The coordinate reference system, as WKT."""
    return cloud.crs


def kind(path: Path) -> str:
    """The format of a file, which its first bytes or its suffix tell."""
    from tear3d.io.clouds import module_of

    return module_of(path).__name__.rpartition(".")[2]


def check(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name that no cloud can be written to, or that is one of the inputs, before the work."""
    from tear3d.cli.outputs import check_new
    from tear3d.errors import InputError
    from tear3d.io.clouds import WRITERS, suffix_of

    check_new(path, inputs)
    if suffix_of(path) not in WRITERS:
        raise InputError(f"{path}: cannot write {path.suffix or 'without a suffix'}; use {', '.join(WRITERS)}")
