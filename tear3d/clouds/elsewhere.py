"""Whether a scan fits a map as well at another place: equal rooms, equal houses in a row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tear3d.clouds.evidence import Scene
from tear3d.clouds.region import Region
from tear3d.clouds.symmetry import fits_as_well
from tear3d.clouds.tries import Matched
from tear3d.clouds.verdict import SAME_POSE
from tear3d.features.steps import Tick
from tear3d.judge.ambiguity import Ambiguity
from tear3d.problem.arrays import FloatArray

MARGIN = 10.0
"""Voxels around the source within which a map takes part in what follows the search: more than a refinement moves it
by. Free choice."""
_AS_WELL = 0.8
"""Of the fit of the pose, what another must have, as of the points that have partners: see `tear3d.clouds.likeness`."""


def distance(points: FloatArray, one: FloatArray, other: FloatArray) -> float:
    """How far apart two poses put the points, on average."""
    change = one - other
    return float(np.linalg.norm(points @ change[:3, :3].T + change[:3, 3], axis=1).mean())


def elsewhere(
    matched: Matched, scene: Scene, pose: FloatArray, others: Iterable[FloatArray], tick: Tick
) -> Ambiguity | None:
    """The first of the other poses at which the clouds fit as well as at this one, in words; None without any."""
    source, target, recipe = matched.source, matched.target, matched.recipe
    region, bound = Region.of(source), recipe.noise_bound
    fit = scene.measure(pose, pose, bound).fit
    here = region.rows(target, pose, MARGIN * recipe.voxel_size)
    for start in others:
        tick(0.0)
        other = scene.settle(start)
        if min(distance(source, each, pose) for each in (start, other)) <= SAME_POSE * bound:
            continue
        if not scene.measure(other, start, bound).fit >= _AS_WELL * fit:
            continue
        rows = np.union1d(here, region.rows(target, other, MARGIN * recipe.voxel_size))
        if fits_as_well(source, target[rows], (pose, other), recipe.voxel_size, scene.threads):
            return Ambiguity(f"the source fits the target as well {_way(source, pose, other):.3g} away from there")
    return None


def _way(points: FloatArray, one: FloatArray, other: FloatArray) -> float:
    """Between the places of the middle of a cloud."""
    middle = points.mean(axis=0)
    return float(np.linalg.norm((one - other)[:3, :3] @ middle + (one - other)[:3, 3]))
