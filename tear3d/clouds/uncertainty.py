"""The covariance of a refined pose: a sandwich A⁻¹ B A⁻¹ whose middle is made of blocks of space.

The refinement ends where the gradient b of its error is zero. B is the variance of b: neighbouring residuals share
normals, target points and the shape of the surface between the samples, so they are not independent; whole blocks of
space nearly are, and B is the sum of the squares of what each block contributes. A is the slope of b when the points
are paired anew, as the refinement does, measured by moving the pose to and fro: with fixed pairs it would be H, which
takes sliding along a surface for a motion that the pairs resist.
"""

from __future__ import annotations

import numpy as np

from tear3d.clouds.descent import moved
from tear3d.clouds.equations import Pairing
from tear3d.features.steps import Tick
from tear3d.judge.uncertainty import LARGEST_TURN
from tear3d.problem.arrays import FloatArray

WIDTH = 32.0
"""Edge of a block in voxels. Residuals of scans are correlated over 10 to 15 voxels (measured on scans of a street
and of statues), so that blocks three times as wide have little to do with each other; ..."""
FEWEST = 60
"""... halved until there are as many blocks as this: fewer say little about 21 numbers. Down to ..."""
NARROWEST = 2.0
NEEDED = 9
"""Blocks without which there is no variance of six numbers."""
MOST = 10_000
"""Points by which the slope is measured, at most. With all of 20 000 to 40 000 the standard deviations of four pairs of
scans differ by 4 % at most, and those of so few blocks are less certain than that."""
STEP = 0.3
"""How far the typical point is moved to measure the slope, in voxels: enough for many points to change partners."""


def refined_covariance(pairing: Pairing, pose: FloatArray, tick: Tick) -> FloatArray:
    """Covariance of (ω, v) in R_true = R exp(ω), t_true = t + R v, in the coordinates of the pairing.

    NaN where the clouds do not hold the pose: as two planes that slide along each other.
    """
    unknown = np.full((6, 6), np.nan)
    slope = _slope(pairing, pose, tick)
    pairing.linearise(pose, tick)
    places, scores = pairing.scores(pose)
    totals = _block_totals(places, scores)
    if len(totals) < NEEDED:
        return unknown
    # As for Student's distribution: the inverse of a variance from so few blocks is too large on average.
    middle = totals.T @ totals * (len(totals) / (len(totals) - NEEDED + 1.0))
    # The slope of a gradient is symmetric, up to the noise of the pairs that change.
    values, vectors = np.linalg.eigh(0.5 * (slope + slope.T))
    if not values[0] > 0.0:
        return unknown
    inverse = (vectors / values) @ vectors.T
    turned = np.kron(np.eye(2), pose[:3, :3])
    covariance = turned.T @ inverse @ middle @ inverse @ turned
    if not float(np.linalg.eigvalsh(covariance[:3, :3])[-1]) <= LARGEST_TURN**2:
        return unknown
    return np.asarray(covariance)


def _slope(pairing: Pairing, pose: FloatArray, tick: Tick) -> FloatArray:
    """Of b, by central differences with new pairs."""
    columns, count = [], len(pairing)
    unit_turn, pairing = 1.0 / pairing.radius, pairing.part(-(-count // MOST))
    for axis, unit in enumerate([unit_turn] * 3 + [1.0] * 3):
        change = np.zeros(6)
        change[axis] = STEP * unit
        ahead, behind = (pairing.linearise(moved(pose, sign * change), tick).b for sign in (1.0, -1.0))
        columns.append((ahead - behind) / (2.0 * STEP * unit))
    return np.column_stack(columns) * (count / len(pairing))


def _block_totals(places: FloatArray, scores: FloatArray) -> FloatArray:
    """Sums of the scores over the blocks that hold a point."""
    width = WIDTH
    while True:
        block = np.zeros(len(places), dtype=np.int64)
        for cells in np.floor(places / width).T:  # axis by axis: rows as a whole are slow to compare
            ranks = np.unique(cells, return_inverse=True)[1]
            block = np.unique(block * len(places) + ranks, return_inverse=True)[1]
        count = int(block.max(initial=-1)) + 1
        if count >= FEWEST or width <= NARROWEST:
            break
        width *= 0.5
    return np.column_stack([np.bincount(block, column, count) for column in scores.T])
