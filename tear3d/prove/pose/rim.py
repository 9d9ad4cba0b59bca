"""How much is saved where elsewhere begins: nothing lower can be proven of what is elsewhere."""

from __future__ import annotations

from itertools import product

import numpy as np

from tear3d.problem.arrays import spread_rows
from tear3d.problem.losses import Loss
from tear3d.problem.objective import full_saving, near_rows
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.turns import turns_by

SAMPLE = 2_000
"""Points of the cloud of which one is to be moved: of fewer than all, which takes a larger turn (free choice)."""
AXES = np.array([axis for axis in product((-1.0, 0.0, 1.0), repeat=3) if axis > (0.0, 0.0, 0.0)])
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)


def saving_at_rim(pairs: Pairs, loss: Loss, pose: Pose, distance: float) -> float:
    """What is saved at least by some pose that moves a point of the cloud by `distance` from where `pose` puts it.

    Tried are turns about axes through the middle of the pairs that agree with the pose; with a prior, about its own.
    """
    agree = near_rows(pairs, pose)
    if not len(agree):
        return 0.0
    inliers = pairs.take(agree)
    middle = pose.apply(inliers.x.mean(axis=0))
    cloud = pose.apply(pairs.x[spread_rows(len(pairs), SAMPLE)]) - middle
    ways = np.eye(3) if pairs.prior is None else pairs.prior.turns.T
    axes = AXES if len(ways) == 3 else ways
    away = np.max(np.sum(cloud**2, axis=1)[:, None] - (cloud @ axes.T) ** 2, axis=0)
    sines = 0.5 * distance / np.sqrt(np.maximum(1e-300, away))  # of half the angles
    vectors = 2.0 * np.arcsin(sines[sines < 1.0, None]) * axes[sines < 1.0]
    turns = turns_by(np.concatenate([vectors, -vectors]))
    rotations, shifts = turns @ pose.rotation, turns @ (pose.translation - middle) + middle
    moved = (Pose(rotation, shift) for rotation, shift in zip(rotations, shifts, strict=True))
    return max((full_saving(inliers, there, loss) for there in moved), default=0.0)
