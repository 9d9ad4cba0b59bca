"""Limits of a translation are about the origin: what they leave of the turns, when that lies far away."""

from __future__ import annotations

import math

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.prior import Prior

FAR = 100.0
"""So many times its size from the origin, a source is not in the frame of a sensor: free choice."""
PART = 0.1
"""A translation that leaves less than this part of the turns allowed contradicts them: free choice."""


def origin_doubt(prior: Prior, centre: FloatArray, radius: float) -> str:
    """A sentence, where limits seem to allow turns and do not; else empty.

    A turn of a source on a map moves the origin by kilometres. Within some metres none is left, and clouds are aligned,
    and the pose is proven, among shifts alone.
    """
    away = float(np.linalg.norm(centre - prior.point))
    if not away > FAR * radius > 0.0:
        return ""
    for name, angle, length in (("within", prior.turn, prior.distance), ("planar", prior.tilt, prior.slide)):
        angle = min(angle, math.pi)
        if angle == 0.0 or length >= PART * 2.0 * away * math.sin(0.5 * angle):
            continue
        return (
            f"{name} limits the translation to {length:g}, which is the way of the origin, from which the source "
            f"lies {away:.3g} away, {away / radius:.2g} times its size: of the turns of {math.degrees(angle):.3g}° "
            f"that are allowed only {math.degrees(length / away):.1g}° are left. Unless that is meant, subtract the "
            "same offset from source and target"
        )
    return ""
