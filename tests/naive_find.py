"""The slow, obvious twin of the kernel that searches around pivots: what it computes, with no thought of how."""

from __future__ import annotations

import numpy as np

from tear3d.find.pivots import MAX_NEIGHBOURS, POSES, SEEDS
from tear3d.find.procrustes import procrustes


def keep_their_length(points, i, j, tolerance, reach=np.inf):
    """Whether pairs i and j are as far apart in the source as in the target, and far enough to mean something."""
    a = np.linalg.norm(points[:3, i] - points[:3, j])
    b = np.linalg.norm(points[3:6, i] - points[3:6, j])
    limit = tolerance * (points[6, i] + points[6, j])
    return abs(a - b) <= limit and a > limit and b > limit and a * a + b * b < 2.0 * reach * reach


def saved_in_caps(points, pose, tear):
    """What each pair saves of its cap, and its distance in noise bounds."""
    e = points[3:6].T - pose.apply(points[:3].T)
    distance = np.linalg.norm(e, axis=1) / points[6]
    share = np.abs(e).sum(axis=1) / points[6] if tear else distance**2
    return np.maximum(0.0, 1.0 - share), distance


def pose_around(points, pivot, tolerance, reach, floor, tear):
    """(pose, score, count) of the best pose around a pivot; the pose is None when nothing reached the floor."""
    nothing = (None, 0.0, 0)
    n = points.shape[1]
    neighbours = [j for j in range(n) if keep_their_length(points, j, pivot, tolerance, reach)][:MAX_NEIGHBOURS]
    if len(neighbours) < 2 or len(neighbours) + 1 < floor:
        return nothing
    friends = {
        j: {k for k in neighbours if keep_their_length(points, j, k, tolerance)} for j in neighbours
    }  # nobody is a friend of himself: the length is 0
    by_degree = sorted(neighbours, key=lambda j: -len(friends[j]))[:SEEDS]
    triples = []
    for seed in by_degree:
        if not friends[seed] or len(friends[seed]) + 2 < floor:
            break
        partner = max(sorted(friends[seed]), key=lambda j: len(friends[seed] & friends[j]))
        triples.append((seed, partner, friends[seed] & friends[partner]))
    triples.sort(key=lambda triple: -len(triple[2]))
    near = points[:, [*neighbours, pivot]]
    column = {j: k for k, j in enumerate([*neighbours, pivot])}
    best = nothing
    for seed, partner, common in triples[:POSES]:
        if len(common) + 3 < floor:
            break
        use = np.zeros(near.shape[1], bool)
        use[[column[j] for j in (seed, partner, pivot, *common)]] = True
        for step, width in enumerate((2.5, 2.0, 1.5, 1.0)):
            if np.count_nonzero(use) < 3:
                break
            pose = procrustes(near[:3, use].T, near[3:6, use].T)
            saved, distance = saved_in_caps(near, pose, tear)
            use = distance <= width
            score, count = float(saved.sum()), int(np.count_nonzero(saved > 0.0))
            if step > 0 and count < 0.5 * floor:
                break
            if score > best[1]:
                best = (pose, score, count)
    return best


def search_pivots(points, tolerance, reach, prune, first, last, floor, tear):
    """[(pose, score)] of the pivots first..last − 1, and the floor as it rose."""
    points = np.asarray(points, np.float64)
    found = []
    for pivot in range(first, last):
        pose, score, count = pose_around(points, pivot, tolerance, reach, floor, tear)
        found.append((pose, score))
        floor = max(floor, prune * count)
    return found, floor
