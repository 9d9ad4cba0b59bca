"""What all pairs are like, for packing some of them: how far they reach, and what they can save."""

from __future__ import annotations

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.frame import Frame
from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.sizes import ROUNDING
from tear3d.prove.pose.points import Everybody, Extent, Savings
from tear3d.stream.look import Facts

UP = 1.0 + 1e-12
"""Covers the roundings of a length."""


def everybody(facts: Facts, sample: Pairs, pose: Pose, loss: Loss) -> Everybody:
    """From the first pass: around a pose, with the origin of the sample's frame for the mean."""
    frame = sample.frame
    low = (facts.low - np.concatenate([frame.source, frame.target])) / frame.unit
    high = (facts.high - np.concatenate([frame.source, frame.target])) / frame.unit
    reach = np.maximum(np.abs(low), np.abs(high)) * UP
    xi = float(facts.bounds[1]) / frame.unit
    largest_x = float(np.linalg.norm(reach[:3])) * UP
    placed = np.maximum(np.abs(low[3:] - pose.translation), np.abs(high[3:] - pose.translation)) * UP
    away = (largest_x + xi) * UP
    extent = Extent(
        low=low[3:] - pose.translation - away,
        high=high[3:] - pose.translation + away,
        largest_x=largest_x,
        largest_y=float(placed.max()),
        given=float(reach.max()),
        largest_xi=xi,
    )
    weight = float(facts.bounds[3]) / frame.weight
    most = weight * float(loss.caps(np.array([xi]))[0])
    total = facts.total(loss.name) / frame.saving_unit(loss)
    savings = Savings.with_most(loss, most, total, facts.usable)
    return Everybody(np.zeros(3), extent, savings, sample.typical_bound, sample.radius)


def check_digits(facts: Facts, frame: Frame, usual: float) -> None:
    """Refuse pairs so far from the others that the noise bound drowns in the rounding of residuals."""
    middle = np.concatenate([frame.source, frame.target])
    away = float(np.maximum(np.abs(facts.low - middle), np.abs(facts.high - middle)).max())
    if ROUNDING * away > usual:
        raise InputError(
            f"noise_bound is {usual:g}: too small for what float64 can tell apart {away:.2g} away from the middle of "
            f"the clouds, where some points lie; expected at least {ROUNDING * away:.2g}, or such pairs left out"
        )
