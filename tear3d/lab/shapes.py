"""Recognisable shapes made in code: the Utah teapot and an ellipsoid, sampled uniformly by area."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError

FloatArray = NDArray[np.float64]

_CHUNK = 1 << 16
_CELLS = 24
"""Cells per side of a patch; inside one cell the area element is taken as constant."""

# Newell's teapot, z up, spout towards +x. Body: (radius, height) control points of its profile curves.
_PROFILES = (
    ((1.4, 2.4), (1.3375, 2.53125), (1.4375, 2.53125), (1.5, 2.4)),  # rim
    ((1.5, 2.4), (1.75, 1.875), (2.0, 1.35), (2.0, 0.9)),  # upper body
    ((2.0, 0.9), (2.0, 0.45), (1.5, 0.225), (1.5, 0.15)),  # lower body
    ((1.5, 0.15), (1.5, 0.075), (1.425, 0.0), (0.0, 0.0)),  # bottom
    ((0.0, 3.15), (0.8, 3.15), (0.0, 2.85), (0.2, 2.7)),  # knob
    ((0.2, 2.7), (0.4, 2.55), (1.3, 2.55), (1.3, 2.4)),  # lid
)
_QUARTER_CIRCLE = ((1.0, 0.0), (1.0, 0.56), (0.56, 1.0), (0.0, 1.0))
# Tubes: (inner x, inner z, outer x, outer z, half width) of each ring of control points.
_HANDLE = (
    (-1.6, 2.025, -1.5, 2.25, 0.3),
    (-2.3, 2.025, -2.5, 2.25, 0.3),
    (-2.7, 2.025, -3.0, 2.25, 0.3),
    (-2.7, 1.8, -3.0, 1.8, 0.3),
    (-2.7, 1.575, -3.0, 1.35, 0.3),
    (-2.5, 1.125, -2.65, 0.9375, 0.3),
    (-2.0, 0.9, -1.9, 0.6, 0.3),
)
_SPOUT = (
    (1.7, 1.425, 1.7, 0.6, 0.66),
    (2.6, 1.425, 3.1, 0.825, 0.66),
    (2.3, 2.1, 2.4, 2.025, 0.25),
    (2.7, 2.4, 3.3, 2.4, 0.25),
    (2.8, 2.475, 3.525, 2.49375, 0.25),
    (2.9, 2.475, 3.45, 2.5125, 0.15),
    (2.8, 2.4, 3.2, 2.4, 0.15),
)


def teapot(n: int, seed: int | np.random.Generator = 0) -> FloatArray:
    """Points of the Utah teapot.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int or numpy.random.Generator
        Same seed, same points.

    Returns
    -------
    (n, 3) array
        Points of the 32 Bézier patches, uniform by area, in the original units: z up, height 3.15,
        handle at x = -3, spout at x = 3.4.
    """
    points = np.empty((_checked_count(n), 3))
    rng = np.random.default_rng(seed)
    patches = teapot_patches().reshape(-1, 16, 3)
    cumulative = _cumulative_cell_areas()
    for start in range(0, n, _CHUNK):
        size = min(_CHUNK, n - start)
        cell = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        patch, u_cell, v_cell = np.unravel_index(cell, (len(patches), _CELLS, _CELLS))
        u = _bernstein((u_cell + rng.random(size)) / _CELLS)
        v = _bernstein((v_cell + rng.random(size)) / _CELLS)
        weights = (u[:, :, None] * v[:, None, :]).reshape(size, 16)
        np.einsum("nk,nkc->nc", weights, patches[patch], out=points[start : start + size])
    return points


def ellipsoid(n: int, axes: Sequence[float] = (1.0, 0.7, 0.4), seed: int | np.random.Generator = 0) -> FloatArray:
    """Points of an ellipsoid centred at the origin, uniform by area.

    Parameters
    ----------
    n : int
        Number of points.
    axes : three floats
        Semi-axes along x, y and z.
    seed : int or numpy.random.Generator
        Same seed, same points.
    """
    points = np.empty((_checked_count(n), 3))
    scale = np.asarray(axes, dtype=float)
    if scale.shape != (3,) or not np.all(np.isfinite(scale) & (scale > 0)):
        raise InputError(f"axes is {axes!r}: pass three positive numbers")
    rng = np.random.default_rng(seed)
    filled = 0
    while filled < n:
        unit = rng.standard_normal((_CHUNK, 3))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        # The map sphere → ellipsoid stretches the area around u by abc·|u / axes|.
        stretch = np.linalg.norm(unit / scale, axis=1) * scale.min()
        kept = unit[rng.random(_CHUNK) < stretch][: n - filled]
        np.multiply(kept, scale, out=points[filled : filled + len(kept)])
        filled += len(kept)
    return points


@functools.cache
def teapot_patches() -> FloatArray:
    """Control points of the teapot's 32 bicubic Bézier patches, shape (32, 4, 4, 3)."""
    patches = []
    for profile in _PROFILES:
        quarter = np.array([[(r * c, r * s, z) for c, s in _QUARTER_CIRCLE] for r, z in profile])
        for cos, sin in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            patches.append(quarter @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]))
    for rings in (_HANDLE, _SPOUT):
        tube = np.array([[(a, 0, b), (a, w, b), (c, w, d), (c, 0, d)] for a, b, c, d, w in rings])
        patches += [half * side for half in (tube[:4], tube[3:]) for side in ([1, 1, 1], [1, -1, 1])]
    return np.array(patches)


@functools.cache
def _cumulative_cell_areas() -> FloatArray:
    basis = _bernstein(np.linspace(0.0, 1.0, _CELLS + 1))
    corners = np.einsum("ui,vj,pijc->puvc", basis, basis, teapot_patches())
    diagonal = corners[:, 1:, 1:] - corners[:, :-1, :-1]
    other = corners[:, 1:, :-1] - corners[:, :-1, 1:]
    return cast(FloatArray, np.cumsum(np.linalg.norm(np.cross(diagonal, other), axis=-1) / 2))


def _bernstein(t: FloatArray) -> FloatArray:
    s = 1.0 - t
    return np.stack([s**3, 3 * s**2 * t, 3 * s * t**2, t**3], axis=-1)


def _checked_count(n: int) -> int:
    if not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"n is {n!r}: pass the number of points as a whole number of at least 0")
    return int(n)
