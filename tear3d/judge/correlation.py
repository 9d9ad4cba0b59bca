"""Residuals of neighbours have something in common: how much that adds to the variance of what they tell.

Matches of neighbouring points err alike, so a hundred of them tell less than a hundred others. With the gradients gᵢ of
the pairs, S = Σ gᵢ gᵢᵀ and their sums g_b over the blocks of a grid, the ratio

    Σ_b g_bᵀ S⁻¹ g_b / 6

is 1 on average when pairs are independent, whatever the blocks, and grows with what the pairs of a block share: the
design effect of a cluster sample.
"""

from __future__ import annotations

import math

import numpy as np

from tear3d.judge.witnesses import voxel_numbers
from tear3d.problem.arrays import FloatArray

BLOCKS = (2.0, 4.0, 8.0)
"""Edges of the blocks, in noise bounds."""
FEWEST_BLOCKS = 24
"""Fewer say nothing about the rest."""
CERTAIN = 2.0
"""Standard deviations by which the ratio must exceed 1; free choice, so that independent pairs are left as they are."""


def design_effect(points: FloatArray, gradients: FloatArray, bound: float) -> float:
    """What the variance of the sum of gradients is larger than that of independent ones; at least 1.

    Parameters
    ----------
    points : (n, 3) array
        Where the pairs are.
    gradients : (n, 6) array
        What each pair says about the pose.
    bound : float
        Their noise bound.
    """
    total = gradients.T @ gradients
    size = np.sqrt(np.diag(total))
    if len(points) < FEWEST_BLOCKS or not (size > 0.0).all():
        return 1.0
    scaled = gradients / size
    inverse = np.linalg.pinv(scaled.T @ scaled, hermitian=True)
    effect = 1.0
    for edge in BLOCKS:
        numbers, count = voxel_numbers(points, edge * bound)
        if count < FEWEST_BLOCKS:
            break
        entries = (6 * numbers[:, None] + np.arange(6)).ravel()
        sums = np.bincount(entries, scaled.ravel(), 6 * count).reshape(count, 6)
        ratio = float(np.sum(sums @ inverse * sums)) / 6.0
        effect = max(effect, ratio * (1.0 - CERTAIN * math.sqrt(2.0 / (6.0 * count))))
    return effect
