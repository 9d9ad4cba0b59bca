"""The right answer, where a file of pairs carries it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.io.arrays import Archive
from tear3d.io.checks import format_errors, memory_limit

_POSES = ("transformation", "T_gt")
MASK = "inlier_mask"

_log = logging.getLogger(__name__)


class Truth(NamedTuple):
    transformation: NDArray[np.float64]
    inlier_mask: NDArray[np.bool_] | None = None


def read_truth(path: Path, pairs: int) -> Truth | None:
    """The arrays `transformation` (or `T_gt`) and `inlier_mask` of a .npz file, or None."""
    if path.suffix.lower() != ".npz":
        return None
    with format_errors(path, ".npz"), Archive(path, memory_limit(path, None)) as archive:
        name = next((name for name in _POSES if name in archive.names), None)
        if name is None:
            return None
        pose = _read_pose(archive, name)
        if pose is None:
            _log.warning("%s: %s is not a 4×4 pose and is not compared with", path, name)
            return None
        return Truth(pose, _read_mask(archive, path, pairs))


def _read_pose(archive: Archive, name: str) -> NDArray[np.float64] | None:
    header = archive.header(name)
    if header.shape != (4, 4) or not header.is_real:
        return None
    pose = archive.read(name).astype(np.float64)
    return pose if np.isfinite(pose).all() else None


def _read_mask(archive: Archive, path: Path, pairs: int) -> NDArray[np.bool_] | None:
    if MASK not in archive.names:
        return None
    header = archive.header(MASK)
    if header.shape != (pairs,) or header.dtype != bool:
        _log.warning("%s: %s is not one bool per pair and is not compared with", path, MASK)
        return None
    # Any byte may be stored as a bool, and only 0 and 1 may be computed with.
    return archive.read(MASK).view(np.uint8) != 0
