"""How much is saved where elsewhere begins: nothing lower can be proven of what is elsewhere."""

from __future__ import annotations

from itertools import product

import numpy as np

from tear3d.problem.arrays import spread_rows
from tear3d.problem.losses import Loss
from tear3d.problem.objective import full_saving, near_rows
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.domains.rotations import rotation_at

SAMPLE = 5_000
"""Points of the cloud of which one is to be moved: of fewer than all, which takes a larger turn (free choice)."""
AXES = [np.array(axis) for axis in product((-1.0, 0.0, 1.0), repeat=3) if any(axis)]


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
    squares = np.sum(cloud**2, axis=1)
    best = 0.0
    ways = None if pairs.prior is None else pairs.prior.turns.T
    for axis in AXES if ways is None or len(ways) == 3 else [*ways, *-ways]:
        unit = axis / np.linalg.norm(axis)
        sine = 0.5 * distance / np.sqrt(max(1e-300, np.max(squares - (cloud @ unit) ** 2)))  # of half the angle
        if sine >= 1.0:
            continue
        turn = rotation_at(0, sine / np.sqrt(1.0 - sine**2) * unit)
        moved = Pose(turn @ pose.rotation, turn @ (pose.translation - middle) + middle)
        best = max(best, full_saving(inliers, moved, loss))
    return best
