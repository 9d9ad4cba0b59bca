"""The slow and obvious twin of the kernel in tear3d/clouds/turns.py."""

from __future__ import annotations

import itertools

import numpy as np


def misfit(points, cloud, rotation, centre, cell, corner, shape):
    """The mean, over the turned points, of the distance between the cells of a point and of the cloud: 4 at most."""
    occupied = {tuple(np.floor((q - corner) / cell).astype(int)) for q in cloud}
    inside = set(itertools.product(*(range(n) for n in shape)))
    total = 0.0
    for point in points:
        place = tuple(np.floor((rotation @ (point - centre) + centre - corner) / cell).astype(int))
        near = min(np.linalg.norm(np.subtract(place, other)) for other in occupied)
        total += min(4.0, near) if place in inside else 4.0
    return total / len(points)
