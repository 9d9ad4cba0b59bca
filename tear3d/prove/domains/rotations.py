"""Cells of the rotation group: a cube map of the unit quaternions (mathematics.md, section 6).

A rotation is R = C(g) F_face with C(g) the rotation of the quaternion (1, g)/√(1 + |g|²), g in the cube [−1, 1]³, and
F_face the identity or half a turn about an axis: four cubes that cover SO(3) once. A cell is a box of g with centre c
and half sides h. With d = g − c, the rotation from the centre has the Gibbs vector (quaternion product)

    v = M d / (1 + ε),   M d = (d − d×c) / (1 + |c|²),   ε = d·c / (1 + |c|²),

and moves a point p by 2/(1 + |v|²)·(v×p + v×(v×p)). The first part is 2 (M d)×p, linear in g, up to a remainder of
second order; the second lies in the ball of radius μ|p| around −μp, μ = V²/(1 + V²), for all |v| ≤ V. So the middle of
what R x can be is nearer to (1 − μ) p than to p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

Triple = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]

FACES = 4
UP = 1.0 + 1e-13
"""Covers relative rounding: 900 units of 2⁻⁵³ where at most 20 occur (mathematics.md, section 6.4)."""
HALF_UP = 1e-16
"""Covers the rounding of the centre of a box of g, at most 2⁻⁵⁴ since |a + b| ≤ 2 (section 6.4)."""
REMAINDER_UP = 1e-15
"""Covers the absolute rounding of the remainder and of 1 − μ: 9 units of 2⁻⁵³ where at most 6 occur (section 6.4)."""
TILTED = 0.9
"""Cells with |ε| up to this or more get a remainder that holds for any two rotations; those of a search do not."""
ANYTHING = 6.0
"""That remainder: |R x| + |p| + |2 (M d)×p| ≤ (1 + 1 + 2√3)|x| for |d| ≤ √3 (section 6.3)."""


class CellFrame(NamedTuple):
    """What is known of the rotations of a cell."""

    rotation: Nine
    """(1 − μ) times the rotation of the centre, by rows."""
    axes: Nine
    """Columns of 2M/(1 − μ), one after the other."""
    half: Triple
    """Half sides of the box of g."""
    remainder: float
    """Bound of |R x − p − Σ_j d_j u_j×p| / |x|, with p = (1 − μ) R_c x and u_j the axes."""
    cosine: float
    sine: float
    """Of the largest angle to the centre; the sine is 1 for obtuse angles, ..."""
    angle: float
    """... and that angle."""
    inward: float
    """1 − μ."""
    stretch: float
    bend: float
    """R x = p + f·Σ_j d_j u_j×p + ρ' with 0 < f ≤ stretch and |ρ'| ≤ bend·|x|: coordinate by coordinate this is
    sharper."""
    pace: float
    """Length of an axis, nearly: part of no bound."""


def _turned(face: int, g: Triple, factor: float) -> Nine:
    """A factor times the rotation at chart point g of a face, by rows."""
    a, b, c = g
    square = a * a + b * b + c * c
    scale = 1.0 / (1.0 + square)
    # Half a turn about axis k changes the signs of the columns other than k.
    s0 = 1.0 if face == 0 or face == 1 else -1.0
    s1 = 1.0 if face == 0 or face == 2 else -1.0
    s2 = 1.0 if face == 0 or face == 3 else -1.0
    ab, bc, ca, rest = 2.0 * a * b, 2.0 * b * c, 2.0 * c * a, 1.0 - square
    return (
        s0 * scale * (2.0 * a * a + rest) * factor,
        s1 * scale * (ab - 2.0 * c) * factor,
        s2 * scale * (ca + 2.0 * b) * factor,
        s0 * scale * (ab + 2.0 * c) * factor,
        s1 * scale * (2.0 * b * b + rest) * factor,
        s2 * scale * (bc - 2.0 * a) * factor,
        s0 * scale * (ca - 2.0 * b) * factor,
        s1 * scale * (bc + 2.0 * a) * factor,
        s2 * scale * (2.0 * c * c + rest) * factor,
    )


turned = njit(cache=True, nogil=True, inline="always")(_turned)


@njit(cache=True, nogil=True, inline="always")
def cell_frame(face, low, high):
    """The frame of the cell low ≤ g ≤ high of a face, both triples."""
    a, b, c = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])
    h0 = 0.5 * (high[0] - low[0]) * UP + HALF_UP
    h1 = 0.5 * (high[1] - low[1]) * UP + HALF_UP
    h2 = 0.5 * (high[2] - low[2]) * UP + HALF_UP
    square = a * a + b * b + c * c
    scale = 1.0 / (1.0 + square)
    length = np.sqrt((h0 * h0 + h1 * h1 + h2 * h2) * scale) * UP
    tilt = (h0 * abs(a) + h1 * abs(b) + h2 * abs(c)) * scale * UP
    if tilt < TILTED:
        v = length / (1.0 - tilt)
        mu = v * v / (1.0 + v * v)
        uneven = max(1.0 / (1.0 - tilt) - 1.0, 1.0 - 1.0 / ((1.0 + v * v) * (1.0 + tilt)))
        remainder = (2.0 * length * uneven + mu) * UP + REMAINDER_UP
        stretch, bend = 1.0 / (1.0 - tilt) * UP, mu * UP + REMAINDER_UP
        angle = min(np.pi, 2.0 * np.arctan(v) * UP + REMAINDER_UP)
    else:
        mu, remainder, angle = 0.0, ANYTHING, np.pi
        stretch, bend = 1.0, ANYTHING
    sine = np.sin(angle) if angle < 0.5 * np.pi else 1.0
    inward = 1.0 - mu
    rotation = turned(face, (a, b, c), inward)
    # Columns of 2M: 2 (e_j − e_j×c) / (1 + |c|²).
    k = scale * (2.0 / inward)
    axes = (k, k * c, -k * b, -k * c, k, k * a, k * b, -k * a, k)
    return CellFrame(rotation, axes, (h0, h1, h2), remainder, np.cos(angle), sine, angle, inward, stretch, bend, k)


_NONE: Triple = (0.0, 0.0, 0.0)
_NOWHERE: Nine = (*_NONE, *_NONE, *_NONE)
ALL_ROTATIONS = CellFrame(_NOWHERE, _NOWHERE, _NONE, 1.0, -1.0, 1.0, np.pi, 0.0, 1.0, 1.0, 0.0)
"""That of no cell but of all: R x is the origin, up to |x|."""


def rotation_at(face: int, g: FloatArray) -> FloatArray:
    """The rotation at chart point g of a face."""
    point = (float(g[0]), float(g[1]), float(g[2]))
    return np.array(_turned(face, point, 1.0)).reshape(3, 3)


def rotations_at(face: int, g: FloatArray) -> FloatArray:
    """The rotations at some chart points of a face, given as rows."""
    return np.array(_turned(face, (g[:, 0], g[:, 1], g[:, 2]), 1.0)).T.reshape(-1, 3, 3)  # type: ignore[arg-type]
