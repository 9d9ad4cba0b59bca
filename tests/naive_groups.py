"""Slow, obvious twins of the votes of groups (mathematics.md, section 7.5)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.naive_pose import coordinate_ranges


def leaf_of(point, tree, node=0):
    """The leaf of a k-d tree in which a point lies."""
    if node >= len(tree):
        return node - len(tree)
    axis, place = tree[node]
    return leaf_of(point, tree, 2 * node + (1 if point[int(axis)] < place else 2))


def members_of(packed):
    """(centre, the pairs) of every group."""
    order, starts = packed.numbers(packed.voters, (0, packed.size)), packed.groups.starts.tolist()
    return [(c, order[a:b]) for c, (a, b) in zip(packed.groups.centres, pairwise(starts), strict=True)]


def group_moves(cell, centre):
    """The least and the largest R c − q over a cell, coordinate by coordinate, with q its middle."""
    low, high = coordinate_ranges(cell, centre, capped=False)
    middle, length = (1 - cell.mu) * (cell.rotation @ centre), np.linalg.norm(centre)
    return np.maximum(low, -length) - middle, np.minimum(high, length) - middle


def largest_of_windows(values, before, behind):
    """The largest value from so many places before each to so many behind it, for those where all of them are there."""
    windows = tuple(m + n + 1 for m, n in zip(before, behind, strict=True))
    return np.lib.stride_tricks.sliding_window_view(values, windows).max(axis=(3, 4, 5))


def votes_of_group(points, ballots, group, cell, grid, windows, quarters, grow):
    """The votes of a group (centre, pairs) on the grid of their own, every pair against every voxel."""
    (centre, members), (before, behind) = group, windows
    q = (1 - cell.mu) * (cell.rotation @ centre)
    edges = [grid.low[k] + grid.size[k] * np.arange(-before[k], grid.shape[k] + behind[k] + 1) for k in range(3)]
    total = np.zeros([len(e) - 1 for e in edges], np.int64)
    for i in members:
        low, high = coordinate_ranges(cell, points.x[:, i] - centre, capped=False)
        outer = -(-int(ballots[i]) * quarters // 4)
        for part, votes in ((1.0, outer), (0.5, int(ballots[i]) - outer)):
            reach = part * points.xi[i] + grow
            start, stop = points.y[:, i] - q - high - reach, points.y[:, i] - q - low + reach
            meets = [(edges[k][:-1] <= stop[k]) & (edges[k][1:] >= start[k]) for k in range(3)]
            total += votes * np.einsum("i,j,k->ijk", *meets)
    return total


def grouped_votes(packed, points, ballots, cell, grid, windows, quarters, grow):
    """The votes of every voxel: of each group the most at any z that belongs to a t of the voxel."""
    total = np.zeros(grid.shape, np.int64)
    for group, (before, behind) in zip(members_of(packed), windows, strict=True):
        votes = votes_of_group(points, ballots, group, cell, grid, (before, behind), quarters, grow)
        total += largest_of_windows(votes, before, behind)
    return total
