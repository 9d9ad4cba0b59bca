"""What a cell of row directions can save at most: three bounds, straight from their formulas.

The library computes the same bounds with exact sums on bins and a rounding margin; here they are written for
reading. Notation of the page "How it works": b = y − r·x, s(z) = max(0, ξ − |z|), r = κc + d inside the cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.prove.domains.sphere import CubeCell, cell_frame
from tear3d.synthetic import make_problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowProblem:
    """Pairs of a row problem with the true row, centred."""

    x: Array
    y: Array
    xi: float
    row: Array
    best: float
    """The saving of the true row at its best shift."""


def row_problem(n: int, outlier_ratio: float, seed: int = 0) -> RowProblem:
    problem = make_problem(n, outlier_ratio, cloud="ellipsoid", translation=np.zeros(3), seed=seed)
    centre = problem.source.mean(axis=0)
    x, y, row = problem.source - centre, problem.target[:, 0], problem.rotation[0]
    y = y - row @ centre
    shifts = np.linspace(-0.02, 0.02, 41)
    best = max(saving(x, y, problem.noise_bound, row, shifts))
    return RowProblem(x, y, problem.noise_bound, row, float(best))


def saving(x: Array, y: Array, xi: float, r: Array, shifts: Array) -> Array:
    """S(r, t) at every t of `shifts`."""
    b = y - x @ r
    return np.array([np.maximum(0.0, xi - np.abs(b - t)).sum() for t in shifts])


def best_in_cell(p: RowProblem, cell: CubeCell, shifts: Array, side: int = 7) -> Array:
    """The largest saving over a grid of directions of the cell: what every bound must stay above."""
    a, b, c, d = cell.vertices
    top = np.zeros(len(shifts))
    for u in np.linspace(0.0, 1.0, side):
        for v in np.linspace(0.0, 1.0, side):
            r = (1 - u) * (1 - v) * a + u * (1 - v) * b + u * v * c + (1 - u) * v * d
            top = np.maximum(top, saving(p.x, p.y, p.xi, r / np.linalg.norm(r), shifts))
    return top


@dataclass(frozen=True)
class _Moves:
    """b at the cell's centre, tangent coordinates p, radial coordinate q, and half widths of the cell."""

    b: Array
    p: Array
    q: Array
    h: Array
    eta: float


def _moves(p: RowProblem, cell: CubeCell) -> _Moves:
    frame = cell_frame(cell.vertices)
    q = p.x @ np.array(frame.c)
    tangents = np.stack([p.x @ np.array(frame.e1), p.x @ np.array(frame.e2)])
    return _Moves(p.y - frame.kappa0 * q, tangents, q, np.array([frame.h1, frame.h2]), frame.eta)


def point_bound(p: RowProblem, cell: CubeCell, shifts: Array) -> Array:
    """Every pair alone: each may use the direction it likes best."""
    m = _moves(p, cell)
    reach = m.h @ np.abs(m.p) + m.eta * np.abs(m.q)
    return np.array([np.clip(p.xi + reach - np.abs(m.b - t), 0.0, p.xi).sum() for t in shifts])


def first_order_bound(p: RowProblem, cell: CubeCell, shifts: Array) -> Array:
    """First order: one slope for all, and a surcharge for pairs that may cross the kink at ξ.

    A pair that can move by ξ or more is bounded alone.
    """
    m = _moves(p, cell)
    reach = m.h @ np.abs(m.p) + m.eta * np.abs(m.q)
    smooth = reach < p.xi
    out = []
    for t in shifts:
        z = m.b - t
        sign = np.where(smooth & (np.abs(z) < p.xi), np.sign(z), 0.0)
        slope = m.h @ np.abs(m.p @ sign) + m.eta * abs(m.q @ sign)
        kinked = np.maximum(0.0, p.xi - np.abs(z)) + np.maximum(0.0, reach - np.abs(np.abs(z) - p.xi))
        alone = np.clip(p.xi + reach - np.abs(z), 0.0, p.xi)
        out.append(np.where(smooth, kinked, alone).sum() + slope)
    return np.array(out)


def window_bound(p: RowProblem, cell: CubeCell, shifts: Array, levels: int = 4) -> Array:
    """Windows: 2^levels × 2^levels groups; a group moves as one, and sliding maxima bound where to."""
    m = _moves(p, cell)
    beta = float(shifts[1] - shifts[0])
    extent = float(np.abs(m.p).max()) * (1 + 1e-9)
    windows = [int(np.ceil(m.h.sum() * extent / 2**k / beta)) for k in range(1, levels + 1)]
    pad = sum(windows)
    nodes = np.concatenate(
        [shifts[0] - beta * np.arange(pad, 0, -1), shifts, shifts[-1] + beta * np.arange(1, pad + 1)]
    )
    table = _group_bounds(p, m, nodes, beta, extent, 2**levels)
    for window in reversed(windows):
        length = table.shape[-1] - 2 * window
        table = np.max([table[..., j : j + length] for j in range(2 * window + 1)], axis=0)
        side = len(table) // 2
        table = table.reshape(side, 2, side, 2, length).sum(axis=(1, 3))
    return table[0, 0]


def _group_bounds(p: RowProblem, m: _Moves, nodes: Array, beta: float, extent: float, side: int) -> Array:
    """First-order bounds of every group at every node, in-group deviations p − p_g only."""
    size = 2 * extent / side
    cell = np.minimum((m.p + extent) // size, side - 1).astype(int)
    group = cell[0] * side + cell[1]
    deviation = m.p - ((cell + 0.5) * size - extent)
    reach = m.h @ np.abs(deviation) + m.eta * np.abs(m.q) + 0.5 * beta
    out = np.zeros((side * side, len(nodes)))
    for k, t in enumerate(nodes):
        near = np.flatnonzero(np.abs(m.b - t) < p.xi + reach)
        g, z, e = group[near], m.b[near] - t, reach[near]
        sign = np.where(np.abs(z) < p.xi, np.sign(z), 0.0)
        own = np.maximum(0.0, p.xi - np.abs(z)) + np.maximum(0.0, e - np.abs(np.abs(z) - p.xi))
        out[:, k] = np.bincount(g, own, side * side)
        terms = (
            (0.5 * beta, 1.0),
            (m.h[0], deviation[0, near]),
            (m.h[1], deviation[1, near]),
            (m.eta, m.q[near]),
        )
        for factor, weights in terms:
            out[:, k] += factor * np.abs(np.bincount(g, sign * weights, side * side))
    return out.reshape(side, side, -1)
