"""Random priors for random problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import turn_about

KINDS = ["axis", "axis", "tilted", "planar", "nearly planar", "fixed", "around", "around", "turn", "distance", "both"]


def unit(rng):
    return random_rotation(rng)[0]


def small(rng, most):
    """A rotation by up to so many radians."""
    return turn_about(unit(rng), most * rng.uniform())


def some_axis(rng):
    """Often a coordinate axis, forwards or backwards."""
    return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]) if rng.uniform() < 0.5 else unit(rng)


def make_prior(rng, truth: Pose, size: float, kind: str | None = None) -> Prior:
    """A prior that allows a pose, or nearly so; of clouds of about a size."""
    kind = str(rng.choice(KINDS)) if kind is None else kind
    axis = some_axis(rng)
    source = truth.rotation.T @ axis
    prior = Prior()
    if kind in ("axis", "planar", "nearly planar", "tilted", "both"):
        tilt = 10.0 ** rng.uniform(-4.0, 0.3) if kind in ("tilted", "nearly planar") else 0.0
        prior = replace(prior, axis=axis, source_axis=small(rng, 1.2 * tilt) @ source, tilt=tilt)
    point = size * rng.normal(size=3) * rng.choice([0.0, 1.0, 30.0])
    place = truth.rotation @ point + truth.translation
    if kind in ("planar", "nearly planar"):
        slide = size * 10.0 ** rng.uniform(-3.0, 0.0) if kind == "nearly planar" else 0.0
        across = np.cross(axis, rng.normal(size=3))
        place = place + size * across + slide * rng.uniform(-1.2, 1.2) * axis
        prior = replace(prior, point=point, place=place, slide=slide)
    if kind == "fixed":
        prior = replace(prior, rotation=small(rng, rng.choice([0.0, 1e-3])) @ truth.rotation, turn=0.0)
    if kind in ("around", "turn", "both"):
        turn = 10.0 ** rng.uniform(-3.0, 0.45)
        towards = turn_about(axis, turn * rng.uniform(-1.0, 1.0)) if kind == "both" else small(rng, 1.2 * turn)
        prior = replace(prior, rotation=towards @ truth.rotation, turn=turn)
    if kind in ("around", "distance", "both"):
        distance = size * 10.0 ** rng.uniform(-2.5, 0.5)
        prior = replace(prior, point=point, place=place + 1.2 * distance * rng.uniform() * unit(rng), distance=distance)
    return prior


def allowed_pose(rng, prior: Prior, size: float) -> Pose:
    """A pose that a prior allows, at its edge more often than not."""
    return prior.nearest(Pose(random_rotation(rng), 3.0 * size * rng.normal(size=3)))


def confined_case(case):
    """The same problem with a prior; start and motions are moved to where it allows them."""
    rng = np.random.default_rng([case.seed, 3])
    size = float(np.sqrt(np.mean(np.sum(case.pairs.x**2, axis=1)))) or 1.0
    about = case.truths[0] if rng.uniform() < 0.8 else Pose(random_rotation(rng), size * rng.normal(size=3))
    kind = str(rng.choice(KINDS))
    pairs = replace(case.pairs, prior=make_prior(rng, about, size, kind))
    truths = [pairs.allow(pose) for pose in case.truths]
    return case._replace(pairs=pairs, start=pairs.allow(case.start), truths=truths, told=f"{kind}: {case.told}")
