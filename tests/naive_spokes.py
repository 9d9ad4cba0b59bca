"""The slow, obvious twin of what is asked of spokes: one hub, one cell and one pair at a time, in float64."""

from __future__ import annotations

from itertools import product

import numpy as np

from tests.naive import chart_rotation


def cell_box(level, cell):
    """The least and the largest g of cell (face, a, b, c)."""
    size = 2.0 / (3 * 2**level)
    return -1.0 + size * np.array(cell[1:]), -1.0 + size * (np.array(cell[1:]) + 1.0)


def largest_angle(face, low, high):
    """Between the rotation of the centre of a cell and any other: at one of its corners."""
    centre = chart_rotation(face, 0.5 * (low + high))
    turns = [centre.T @ chart_rotation(face, np.where(corner, high, low)) for corner in product((0, 1), repeat=3)]
    return max(float(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0))) for turn in turns)


def least_distance(p, q, rotation, angle):
    """How far q is from what `p` can be when it is turned and then turned by up to an angle."""
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    lengths = np.linalg.norm(p), np.linalg.norm(q)
    if min(lengths) == 0.0:
        return abs(lengths[0] - lengths[1])
    between = np.arccos(np.clip((rotation @ p) @ q / (lengths[0] * lengths[1]), -1.0, 1.0))
    nearest = np.cos(max(0.0, between - angle))
    return float(np.sqrt(max(0.0, lengths[0] ** 2 + lengths[1] ** 2 - 2.0 * lengths[0] * lengths[1] * nearest)))


def saved(loss, xi, distance):
    """The most that a spoke saves, as a share of what it can save."""
    half = 0.5 * distance
    return 0.0 if half > xi else {"tear": 1.0 - half / xi, "cm": 1.0, "tls": 1.0 - (half / xi) ** 2}[loss]


def cells_left(x, y, xi, loss, limit, level, hub, angle_of):
    """The cells of a level in which more than `limit` pairs' worth may be saved, and in all cells that hold them, with
    a bound on the angles of a cell."""

    def worth(depth, cell):
        low, high = cell_box(depth, cell)
        rotation, angle = chart_rotation(cell[0], 0.5 * (low + high)), angle_of(depth, cell)
        others = [j for j in range(len(x)) if j != hub]
        gaps = [least_distance(x[j] - x[hub], y[j] - y[hub], rotation, angle) for j in others]
        return 1.0 + sum(saved(loss, xi, gap) for gap in gaps)

    cells = [(face, *abc) for face in range(4) for abc in product(range(3), repeat=3)]
    for depth in range(level + 1):
        cells = [cell for cell in cells if worth(depth, cell) > limit]
        if depth < level:
            halves = list(product((0, 1), repeat=3))
            cells = [(face, 2 * a + i, 2 * b + j, 2 * c + k) for face, a, b, c in cells for i, j, k in halves]
    return set(cells)
