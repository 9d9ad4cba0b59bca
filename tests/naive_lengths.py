"""Slow, obvious twins of what is asked of lengths, and exact rational lengths to hold them against."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from tear3d.prove.bounds.lengths import LEVELS, MANY_STAY, UP

# ---------------------------------------------------------------- exact, on the pairs as given


def squared(a, b):
    return sum((Fraction(float(p)) - Fraction(float(q))) ** 2 for p, q in zip(a, b, strict=True))


def differ_by_at_most(x, y, i, j, c):
    """Whether |‖x_i − x_j‖ − ‖y_i − y_j‖| ≤ c, in rational arithmetic."""
    a, b = squared(x[i], x[j]), squared(y[i], y[j])
    longer, shorter = max(a, b), min(a, b)
    rest = longer - shorter - c * c  # √longer ≤ √shorter + c, squared
    return rest <= 0 or rest * rest <= 4 * c * c * shorter


def difference(x, y, i, j):
    """|‖x_i − x_j‖ − ‖y_i − y_j‖| to fifty digits."""
    with localcontext() as context:
        context.prec = 60
        a, b = (Decimal(f.numerator) / Decimal(f.denominator) for f in (squared(x[i], x[j]), squared(y[i], y[j])))
        return Fraction(abs(a.sqrt() - b.sqrt()))


def exact_saving(loss, xi, w, residual):
    """What a pair saves with a residual of this length along one axis: the most for its length."""
    xi, w = Fraction(float(xi)), Fraction(float(w))
    if residual > xi:
        return Fraction(0)
    return w * {"tear": xi - residual, "cm": Fraction(1), "tls": xi * xi - residual * residual}[loss]


# ---------------------------------------------------------------- the same as the kernels, pair by pair


def table(lot, other=None):
    """Differences of lengths, every pair against every pair (of another lot), in float32 as the kernels have them."""
    other = lot if other is None else other
    gaps = lot.rows[:, :, None] - other.rows[:, None, :]
    assert gaps.dtype == np.float32
    squares = gaps * gaps
    lengths = [np.sqrt(squares[k] + squares[k + 1] + squares[k + 2]) for k in (0, 3)]
    return np.abs(lengths[0] - lengths[1])


def agree(lot, other=None):
    """Who is a friend of whom; everybody is one of himself."""
    other = lot if other is None else other
    return table(lot, other) - lot.xi[:, None] <= other.xi[None, :] + np.float32(lot.slop)


def bits(matrix):
    """A matrix of booleans as words of 64 bits, rows padded with zeros."""
    n, m = matrix.shape
    out = np.zeros((n, -(-m // 64)), np.uint64)
    for i, j in np.argwhere(matrix):
        out[i, j // 64] |= np.uint64(1) << np.uint64(j % 64)
    return out


def steps(lot, k, half):
    """What pair k saves at most, in units."""
    xi, w = float(lot.xi[k]), float(lot.w[k])
    if half > xi:
        return 0
    saving = w * (xi - half, 1.0, xi * xi - half * half)[lot.loss]
    return max(1, min(LEVELS, math.ceil(saving / lot.unit * UP)))


def company(lot, pivots, most):
    """(pairs left, pivots with company): for each pivot, leave out friends until hardly anybody leaves."""
    differences, friends = table(lot), agree(lot)
    left, alive = set(), 0
    for i in pivots:
        own = steps(lot, i, 0.0)
        half = {j: max(0.0, 0.5 * (float(differences[i, j]) - lot.slop)) for j in np.flatnonzero(friends[i]) if j != i}
        worth = {j: steps(lot, j, h) for j, h in half.items()}
        members = sorted(j for j in worth if worth[j] > 0)
        while True:
            before = len(members)
            for j in list(members):
                if own + worth[j] + sum(worth[k] for k in members if k != j and friends[j, k]) <= most:
                    members.remove(j)
            if len(members) >= MANY_STAY * before:
                break
        if own + sum(worth[j] for j in members) > most:
            alive += 1
            left |= {int(i), *map(int, members)}
    return left, alive


def followers(lot, core, ends, most):
    """The pairs that agree in length with more than `most` units of one part of the core."""
    friends = agree(lot, core)
    worth = np.array([steps(core, k, 0.0) for k in range(core.xi.size)], int)
    parts = np.split(np.arange(core.xi.size), ends[:-1])
    return {j for j in range(lot.xi.size) if any(worth[part][friends[j, part]].sum() > most for part in parts)}
