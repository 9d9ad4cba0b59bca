"""The truncated losses, each phrased as a saving: what a residual lies below the loss's cap.

======  ==========================  ==========================  ====
loss    of a residual r, in 3D      saving of a coordinate z    cap
======  ==========================  ==========================  ====
tear    min(‖r‖₁, ξ)                max(0, ξ − abs(z))          ξ
cm      0 if ‖r‖₂ ≤ ξ else 1        1 if abs(z) ≤ ξ             1
tls     min(‖r‖₂², ξ²)              max(0, ξ² − z²)             ξ²
======  ==========================  ==========================  ====

The objective is Σ w·cap − Σ w·saving. A new loss is a row in `LOSSES` and a branch in the two compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

LossName = Literal["tear", "cm", "tls"]
TEAR, CM, TLS = 0, 1, 2
"""The numbers by which kernels know a loss."""


class Loss(NamedTuple):
    """What the rest of the library needs to know of a loss."""

    name: str
    code: int
    power: int
    """Savings scale with this power of the unit of length."""
    caps: Callable[[FloatArray], FloatArray]
    """The most each pair can save, from its ξ."""
    left: Callable[[FloatArray, FloatArray], FloatArray]
    """What a row with residuals |z| ≤ ξ leaves of ξ to the next (paper, Hyperparameter Setup)."""


def _left_of_squares(xi: FloatArray, z: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(0.0, xi**2 - z**2))


LOSSES: dict[str, Loss] = {
    "tear": Loss("tear", TEAR, 1, lambda xi: xi.copy(), lambda xi, z: xi - z),
    "cm": Loss("cm", CM, 0, np.ones_like, _left_of_squares),
    "tls": Loss("tls", TLS, 2, np.square, _left_of_squares),
}


@njit(cache=True, nogil=True)
def point_saving(loss, xi, absolute, square):
    """Saving of a pair with ‖r‖₁ = `absolute` and ‖r‖₂² = `square` ≤ ξ² (beyond that no loss saves: ‖r‖₁ ≥ ‖r‖₂)."""
    if loss == TEAR:
        return max(0.0, xi - absolute)
    if loss == CM:
        return 1.0
    return xi * xi - square


@njit(cache=True, nogil=True)
def row_saving(b, t, xi, w, loss):
    """Σ w·s(b − t), summed directly."""
    total = 0.0
    for i in range(b.size):
        z = abs(b[i] - t)
        if z <= xi[i]:
            if loss == TEAR:
                total += w[i] * (xi[i] - z)
            elif loss == CM:
                total += w[i]
            else:
                total += w[i] * (xi[i] - z) * (xi[i] + z)
    return total
