"""Turns and shifts that may lay a cloud onto another as well as it lies now."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.problem.turns import turns_by

# Every finite group of rotations has one of prime order; parts of a turn beyond 13 are hardly told from a circle.
_ORDERS = (2, 3, 5, 7, 11, 13)
# Free choices: the grid has this many cells along the longest side, axes are about 4° apart.
_CELLS, _MARGIN = 40, 4
_AXES = 1300
_PROBES = 250
_FAR = 4.0
_APART = np.cos(np.radians(20.0))
# Mean distance of the probes, in cells, beyond that of the pose that fits: a third of them may be far.
_WORSE = 1.3


class Field:
    """Distances to a cloud, in cells of a grid around it."""

    def __init__(self, points: FloatArray) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        self.cell = float((high - low).max()) / _CELLS
        self.corner = low - _MARGIN * self.cell
        shape = np.ceil((high - self.corner) / self.cell).astype(np.int64) + _MARGIN + 1
        self.distance = np.full(shape, _FAR, dtype=np.float32)
        _spread(((points - self.corner) / self.cell).astype(np.int64), self.distance)

    def misfits(self, points: FloatArray, rotations: FloatArray, centre: FloatArray) -> FloatArray:
        """For every rotation about the centre: the mean distance of the points, four cells where it is more."""
        out = np.zeros(len(rotations))
        _misfits((points - centre) / self.cell, (centre - self.corner) / self.cell, rotations, self.distance, out)
        return out


@njit(cache=True, nogil=True)
def _spread(cells, distance):
    """Lower the distances around each of some cells to those from it; `_MARGIN` cells lie beyond all of them."""
    reach = int(_FAR)
    for i in range(len(cells)):
        u, v, w = cells[i]
        if distance[u, v, w] == 0.0:
            continue
        for a in range(-reach, reach + 1):
            for b in range(-reach, reach + 1):
                for c in range(-reach, reach + 1):
                    near = np.float32(np.sqrt(a * a + b * b + c * c))
                    if near < distance[u + a, v + b, w + c]:
                        distance[u + a, v + b, w + c] = near


@njit(cache=True, nogil=True)
def _misfits(points, centre, rotations, distance, out):
    nx, ny, nz = distance.shape
    for k in range(len(rotations)):
        turn = rotations[k]
        total = 0.0
        for i in range(len(points)):
            x, y, z = points[i, 0], points[i, 1], points[i, 2]
            u = int(np.floor(turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z + centre[0]))
            v = int(np.floor(turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z + centre[1]))
            w = int(np.floor(turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z + centre[2]))
            if 0 <= u < nx and 0 <= v < ny and 0 <= w < nz:
                total += distance[u, v, w]
            else:
                total += _FAR
        out[k] = total / len(points)


def about(rotation: FloatArray, centre: FloatArray) -> FloatArray:
    """The 4×4 motion that turns about a centre."""
    motion = np.eye(4)
    motion[:3, :3], motion[:3, 3] = rotation, centre - rotation @ centre
    return motion


def likely_turns(points: FloatArray, field: Field, centre: FloatArray, most: int) -> list[FloatArray]:
    """Motions about the centre that put points onto the cloud of the field.

    At most so many of each order, the likeliest first.
    """
    axes = np.concatenate((np.linalg.svd(points - centre, full_matrices=False)[2], _directions(_AXES)))
    probes = points[:: max(1, len(points) // _PROBES)]
    limit = field.misfits(probes, np.eye(3)[None], centre)[0] + _WORSE
    found: list[tuple[float, FloatArray]] = []
    for order in _ORDERS:
        rotations = turns_by(2.0 * np.pi / order * axes)
        misfit = field.misfits(probes, rotations, centre)
        chosen: list[int] = []
        for k in np.argsort(misfit):
            if len(chosen) == most or misfit[k] > limit:
                break
            if all(abs(axes[k] @ axes[other]) < _APART for other in chosen):
                chosen.append(int(k))
        # Of each order one, then of each the second: what is next best often is the same once more.
        found += [(rank + misfit[k] / _FAR, rotations[k]) for rank, k in enumerate(chosen)]
    found.sort(key=lambda each: each[0])
    return [about(rotation, centre) for _, rotation in found]


def _directions(count: int) -> FloatArray:
    """Unit vectors spread evenly over a half-sphere, along a spiral."""
    height = (np.arange(count) + 0.5) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), height))
