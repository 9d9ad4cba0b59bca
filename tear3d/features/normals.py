"""Surface normals from the shape of each point's neighbourhood."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.neighbours import rows_at_once, tree_of
from tear3d.features.steps import Tick
from tear3d.features.tree import Tree
from tear3d.features.work import in_chunks
from tear3d.problem.arrays import FloatArray

Orientation = Literal["away", "towards"]

_SWEEPS, _NEGLIGIBLE = 12, 1e-17
"""Of Jacobi's method, which converges quadratically: five sweeps or so leave what is less than rounding."""


def estimate_normals(
    points: FloatArray,
    *,
    radius: float = np.inf,
    max_nn: int = 30,
    orient: Orientation | None = None,
    viewpoint: FloatArray | None = None,
    threads: int | None = None,
    tick: Tick | None = None,
    tree: Tree | None = None,
) -> FloatArray:
    """Unit normals: the direction in which the neighbourhood varies least.

    Parameters
    ----------
    points : (N, 3) array
    radius, max_nn
        A neighbourhood is the point and its nearest points within `radius`, `max_nn` in all.
    orient : {"away", "towards"}, optional
        Make every normal point away from or towards `viewpoint`. Without it the sign is arbitrary.
    viewpoint : (3,) array, optional
        By default the centroid of the points.
    threads : int, optional
    tick : callable, optional
        Told the fraction that is done, now and then; what it raises ends the call.
    tree : Tree, optional
        Of the points, where there is one already.

    Returns
    -------
    (N, 3) array
        A point with fewer than three neighbours gets (0, 0, 1).
    """
    points = np.asarray(points, dtype=np.float64)
    if not radius > 0.0 or max_nn < 3:
        raise InputError(f"radius {radius} and max_nn {max_nn}: expected a positive radius and at least 3")
    if orient not in (None, "away", "towards"):
        raise InputError(f"orient is {orient!r}: expected 'away', 'towards' or None")
    normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    if len(points) == 0:
        return normals
    tree = tree_of(points, tick) if tree is None else tree

    def work(start: int, stop: int) -> None:
        indices = tree.query(tree.data[start:stop], max_nn, radius)[1]
        known = np.count_nonzero(indices >= 0, axis=1) >= 3
        normals[start:stop][known] = flattest(tree.data, indices[known])[1]

    in_chunks(work, len(points), threads, chunk=rows_at_once(max_nn), tick=tick)
    if orient is not None:
        outward = points - (points.mean(axis=0) if viewpoint is None else np.asarray(viewpoint))
        sign = 1.0 if orient == "away" else -1.0
        normals[sign * np.einsum("ij,ij->i", normals, outward) < 0.0] *= -1.0
    return normals


def neighbourhood_covariances(points: FloatArray, indices: NDArray[np.int32]) -> FloatArray:
    """Covariance matrices (N, 3, 3) of the points named in each row of `indices`, up to the first -1."""
    upper = np.zeros((len(indices), 6))
    _covariances(points, indices, upper)
    return upper[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


def flattest(points: FloatArray, indices: NDArray[np.int32]) -> tuple[FloatArray, FloatArray]:
    """Variances (N,) and unit vectors (N, 3) of the direction in which the points of each row vary least."""
    upper, least, normals = np.zeros((len(indices), 6)), np.empty(len(indices)), np.empty((len(indices), 3))
    _covariances(points, indices, upper)
    _flattest(upper, least, normals)
    return least, normals


@njit(cache=True, nogil=True)
def _flattest(upper, least, normals):
    """The smallest eigenvalues and their eigenvectors, by Jacobi's rotations: LAPACK takes five times as long."""
    a, v = np.empty((3, 3)), np.empty((3, 3))
    for i in range(len(upper)):
        a[0, 0], a[0, 1], a[0, 2] = upper[i, 0], upper[i, 1], upper[i, 2]
        a[1, 1], a[1, 2], a[2, 2] = upper[i, 3], upper[i, 4], upper[i, 5]
        for d in range(3):
            for e in range(3):
                v[d, e] = 1.0 if d == e else 0.0
        for _ in range(_SWEEPS):
            if a[0, 1] == 0.0 and a[0, 2] == 0.0 and a[1, 2] == 0.0:
                break
            for p, q, r in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
                off = a[p, q]
                apart = a[q, q] - a[p, p]
                if abs(off) <= _NEGLIGIBLE * (abs(a[p, p]) + abs(a[q, q])):
                    a[p, q] = 0.0
                    continue
                half = 0.5 * apart / off
                tangent = (1.0 if half >= 0.0 else -1.0) / (abs(half) + math.sqrt(half * half + 1.0))
                cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                a[p, p] -= tangent * off
                a[q, q] += tangent * off
                a[p, q] = 0.0
                x, y = a[min(p, r), max(p, r)], a[min(q, r), max(q, r)]
                a[min(p, r), max(p, r)], a[min(q, r), max(q, r)] = cosine * x - sine * y, sine * x + cosine * y
                for d in range(3):
                    x, y = v[d, p], v[d, q]
                    v[d, p], v[d, q] = cosine * x - sine * y, sine * x + cosine * y
        best = 0
        for d in range(1, 3):
            if a[d, d] < a[best, best]:
                best = d
        least[i] = a[best, best]
        for d in range(3):
            normals[i, d] = v[d, best]


@njit(cache=True, nogil=True)
def _covariances(points, indices, upper):
    # Scalars only: array expressions would take seconds longer to compile.
    rows, k = indices.shape
    for i in range(rows):
        count = 0
        mx = my = mz = 0.0
        while count < k and indices[i, count] >= 0:
            j = indices[i, count]
            mx += points[j, 0]
            my += points[j, 1]
            mz += points[j, 2]
            count += 1
        for place in range(count):
            j = indices[i, place]
            x = points[j, 0] - mx / count
            y = points[j, 1] - my / count
            z = points[j, 2] - mz / count
            upper[i, 0] += x * x
            upper[i, 1] += x * y
            upper[i, 2] += x * z
            upper[i, 3] += y * y
            upper[i, 4] += y * z
            upper[i, 5] += z * z
        for d in range(6):
            upper[i, d] /= max(count, 1)
