"""Which pairs can agree with any pose that is allowed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.prior import Prior

ROUNDING = 1e-12
"""Of the coordinates: covers the few dozen roundings of a test by far."""
BLOCK = 1 << 13
"""Pairs looked at together: what stays in the cache (free choice)."""


def possible(prior: Prior, x: FloatArray, y: FloatArray, xi: FloatArray) -> NDArray[np.bool_]:
    """Whether pairs can agree with an allowed pose at all, each looked at alone (mathematics.md, section 12.1)."""
    out = np.ones(len(x), bool)
    for first in range(0, len(x), BLOCK):
        rows = slice(first, first + BLOCK)
        own = xi if len(xi) == 1 else xi[rows]
        out[rows] = _possible(prior, x[rows] - prior.point, y[rows] - prior.place, own)
    return out


def _possible(prior: Prior, v: FloatArray, z: FloatArray, xi: FloatArray) -> NDArray[np.bool_]:
    length, far = _lengths(v), _lengths(z)
    # Before the differences were taken, coordinates may have been far larger.
    size = length + far + float(np.linalg.norm(prior.point) + np.linalg.norm(prior.place))
    room = xi + ROUNDING * size
    good = np.ones(len(v), bool)
    if prior.distance < math.inf:
        if prior.rotation is not None and prior.turn < math.pi:
            moved = 2.0 * math.sin(0.5 * prior.turn) * length
            good &= _lengths(z - v @ prior.rotation.T) <= moved + prior.distance + room
        else:  # whatever the rotation
            good &= np.abs(far - length) <= prior.distance + room
    if prior.axis is not None and prior.tilt < math.pi:
        slide = min(prior.slide, prior.distance)
        if slide < math.inf:
            tilted = 2.0 * math.sin(0.5 * prior.tilt) * length
            good &= np.abs(z @ prior.axis - v @ prior.source_axis) <= slide + tilted + room
    return good


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))
