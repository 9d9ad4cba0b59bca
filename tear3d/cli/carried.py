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


def read(path: Path, max_bytes: int | None = None) -> Cloud:
    """The cloud of a file."""
    from tear3d.cli.outputs import check_input
    from tear3d.io.cloud import Cloud

    check_input(path)
    return Cloud.read(path, max_bytes=max_bytes)


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


def moved_onto(cloud: Cloud, other: Cloud, pose: FloatArray) -> Cloud:
    """Moved into the frame of another, whose coordinate reference it then has."""
    from tear3d.io.reference import in_frame_of

    return in_frame_of(cloud, other).transformed(pose)


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


def reference(cloud: Cloud) -> str:
    """The name of the coordinate reference system; empty where the file does not say it."""
    from tear3d.io.reference import reference_of

    found = reference_of(cloud)
    return "" if found is None else found.name


def references_differ(clouds: Sequence[tuple[str, Cloud]]) -> str:
    """In words, when clouds that are taken to lie in one frame say that they do not."""
    from tear3d.io.reference import differing

    return differing(clouds)


def one_reference(clouds: Sequence[tuple[str, Cloud]], moved: int, *, ignore: bool) -> list[Cloud]:
    """Clouds that go into one file, with the reference that all of them will have.

    Those that a pose has moved, the first of them, lie in the frame of the others, whatever their files say.
    """
    import logging

    from tear3d.errors import InputError
    from tear3d.io.reference import differing, reference_of, referenced, unsaid

    say = logging.getLogger("tear3d").warning
    resting = list(clouds[moved:]) or (list(clouds) if ignore else [])
    different, silent = differing(resting), unsaid(resting)
    if different and not ignore:
        raise InputError(
            f"{different}: these numbers do not belong together; transform them to one reference first, move files by "
            "--pose, or pass --ignore-crs"
        )
    donor = next((cloud for _, cloud in resting if reference_of(cloud) is not None), None)
    told = "" if donor is None else reference(donor)
    if different:
        say("%s: as asked for, they are merged as they are, and the file says %s", different, told)
    elif silent and ignore:
        say("%s: as asked for, the merged file says %s", silent, told)
    elif silent:
        say("%s: neither does the merged file; to give it %s, pass --ignore-crs", silent, told)
        donor = None
    if not resting and any(reference_of(cloud) is not None for _, cloud in clouds):
        say("all files were moved by poses: the merged file says no coordinate reference")
    return [referenced(cloud, donor) for _, cloud in clouds]


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
