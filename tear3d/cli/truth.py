"""The right answer, where a file of pairs carries it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_POSES = ("transformation", "T_gt")

_log = logging.getLogger(__name__)


class Truth(NamedTuple):
    transformation: NDArray[np.float64]
    inlier_mask: NDArray[np.bool_] | None = None


def read_truth(path: Path, pairs: int) -> Truth | None:
    """The arrays `transformation` (or `T_gt`) and `inlier_mask` of a .npz file, or None."""
    if path.suffix.lower() != ".npz":
        return None
    with np.load(path, allow_pickle=False) as file:
        name = next((name for name in _POSES if name in file), None)
        if name is None:
            return None
        try:
            pose, mask = file[name], file.get("inlier_mask")
        except ValueError:
            pose, mask = np.empty(0), None
    if not _is_pose(pose):
        _log.warning("%s: %s is not a 4×4 pose and is not compared with", path, name)
        return None
    if mask is not None and (mask.shape != (pairs,) or mask.dtype != bool):
        _log.warning("%s: inlier_mask is not one bool per pair and is not compared with", path)
        mask = None
    return Truth(pose.astype(np.float64), mask)


def _is_pose(pose: NDArray[Any]) -> bool:
    return pose.shape == (4, 4) and pose.dtype.kind in "fiu" and bool(np.isfinite(pose).all())
