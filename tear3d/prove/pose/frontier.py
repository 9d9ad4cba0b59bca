"""Nodes of the search that are bounded by votes: where they start, how they are split, when they are searched on."""

from __future__ import annotations

from itertools import product

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.votes import BOUND, FACE, NODE, T
from tear3d.prove.domains.rotations import COSINE, FACES, FRAME, SINE, cell_frame

SMALL_TURN = 0.7
"""Votes say little more when the rotations of a node move a typical point by less than this many noise bounds, ..."""
SMALL_BOX = 2.0
"""... or when its box of t is no wider than this many times what a point can move."""
EVEN = 0.5
"""Sides of a cell are halved together when the effect of each is at least this share of the largest."""


def roots(low: FloatArray, high: FloatArray, total: float) -> FloatArray:
    """All rotations in 4·3³ cells, with all translations; the incumbent is in the middle of one of them."""
    sides = [(-1.0, -1.0 / 3.0), (-1.0 / 3.0, 1.0 / 3.0), (1.0 / 3.0, 1.0)]
    cells = [np.array(cell).T.ravel() for cell in product(sides, repeat=3)]
    ceiling = total * (1.0 + 1e-9)
    return np.array([[*cell, *low, *high, ceiling, face] for face in range(FACES) for cell in cells])


def turns(nodes: FloatArray, radius: float) -> FloatArray:
    """How far half of each side of g moves a typical point."""
    half, centre = 0.5 * (nodes[:, 3:6] - nodes[:, :3]), 0.5 * (nodes[:, 3:6] + nodes[:, :3])
    square = np.sum(centre**2, axis=1, keepdims=True)
    return 2.0 * radius * half * np.sqrt(1.0 + square - centre**2) / (1.0 + square)


def ready(nodes: FloatArray, xi: float, radius: float) -> np.ndarray:
    """Which nodes are to be searched on by first-order bounds."""
    turn = turns(nodes, radius).max(axis=1)
    width = 0.5 * (nodes[:, T + 3 : T + 6] - nodes[:, T : T + 3]).max(axis=1)
    return (turn <= SMALL_TURN * xi) | (width <= SMALL_BOX * (xi + turn))


def split(nodes: FloatArray, radius: float) -> FloatArray:
    """Halve the sides of g that matter most: two, four or eight children a node."""
    effect = turns(nodes, radius)
    halve = effect >= EVEN * effect.max(axis=1, keepdims=True)
    for j in range(3):
        wide = nodes[halve[:, j]].copy()
        middle = 0.5 * (wide[:, j] + wide[:, 3 + j])
        lower = nodes.copy()
        lower[halve[:, j], 3 + j] = middle
        wide[:, j] = middle
        nodes = np.concatenate([lower, wide])
        halve = np.concatenate([halve, halve[halve[:, j]]])
    return nodes.reshape(-1, NODE)


def describe(nodes: FloatArray, rotation: FloatArray, threshold: float) -> list[tuple[float, ...]]:
    """For the record: where the first axis of the source points, angular radius, depth, pruned or split."""
    frame, rows = np.empty(FRAME), []
    for node in nodes:
        cell_frame(int(node[FACE]), node, frame)
        axis = frame[:9].reshape(3, 3) @ rotation[:, 0]
        axis /= np.linalg.norm(axis)
        angle = float(np.arctan2(frame[SINE], frame[COSINE]))
        depth = float(np.round(-np.log2(np.min(node[3:6] - node[:3]))))
        rows.append((*axis.tolist(), angle, depth, 1.0 if node[BOUND] <= threshold else 0.0))
    return rows
