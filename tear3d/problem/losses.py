"""The three truncated losses, each phrased as a saving: what a residual z lies below the loss's cap.

| name | saving s(z)       | cap |
|------|-------------------|-----|
| tear | max(0, ξ − abs(z))| ξ   |
| cm   | 1 if abs(z) ≤ ξ   | 1   |
| tls  | max(0, ξ² − z²)   | ξ²  |

The objective of a row is Σ w·cap − Σ w·s(b − t).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray

TEAR = 0
CM = 1
TLS = 2
LOSSES = {"tear": TEAR, "cm": CM, "tls": TLS}


def loss_code(loss: str | int) -> int:
    """The integer by which kernels know a loss; accepts the name or the code itself."""
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    if not isinstance(loss, str) and loss in LOSSES.values():
        return int(loss)
    raise InputError(f"loss is {loss!r}: expected one of {', '.join(map(repr, LOSSES))}")


def caps(loss: int, xi: FloatArray) -> FloatArray:
    """The most each pair can save (and lose): its truncated value."""
    if loss == TEAR:
        return xi.copy()
    return np.ones_like(xi) if loss == CM else xi * xi


@njit(cache=True, nogil=True)
def row_saving(b, t, xi, w, loss):  # pragma: no cover - compiled
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
