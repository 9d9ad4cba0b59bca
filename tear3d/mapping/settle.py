"""How exact the kept edges are, by how well their loops close.

Edges are chosen with a generous allowance on their covariances. Whether they needed it is told by the loops: of the
allowance b, added to every edge as a standard deviation of b noise bounds for the typical point, the one is taken with
which the sum of r² is what it should be, six for each loop (the estimator of Paule and Mandel, 1982, for the spread
between laboratories). It is next to nothing for clean scans, more where scans are distorted. Without a loop nothing
tells, and the allowance stays.

What loops do not tell is what edges have in common: two registrations of one scan share its errors, so triangles close
better than poses are right, and another edge between the same scans says little new. Covariances are therefore
multiplied by `SHARED` times the number of edges for each edge of a tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.mapping.descent import descend, marginals
from tear3d.mapping.graph import UNKNOWN, Graph, IntArray, Measured
from tear3d.mapping.residuals import Poses, squares
from tear3d.problem.arrays import FloatArray

SHARED = 2.0
"""By how much the errors of registrations that have scans in common exceed what their loops show, as a factor of
variances. Measured on generated surveys of three kinds, see docs/map.md."""
LEAST = 2e-4
"""Allowance in noise bounds: next to nothing, but more than rounding leaves of the covariances of far coordinates."""
_WITHIN = 1.05
"""Factor within which the allowance is found."""


class Settled(NamedTuple):
    """Of the scans of a component, the first at the identity, and of its edges."""

    poses: Poses
    covariances: FloatArray
    weighed: FloatArray


def settle(graph: Graph, rows: NDArray[np.bool_], scans: IntArray, poses: Poses) -> Settled | None:
    """Poses by edges with the allowance that their loops ask for; None without a loop."""
    count, loops = len(scans), int(rows.sum()) - len(scans) + 1
    if loops < 1:
        return None

    def weighed_with(allowance: float) -> tuple[FloatArray, Measured]:
        covariances = graph.covariances(allowance)
        return covariances, renumbered(graph.measured(covariances)[rows], scans)

    def fitted(allowance: float) -> tuple[Poses, float]:
        edges = weighed_with(allowance)[1]
        found = descend(edges, poses, np.ones(len(edges)))
        return found, float(squares(edges, found).sum())

    try:
        allowance = _allowance(lambda some: fitted(some)[1] <= 6.0 * loops)
    except InputError:  # a covariance that is none without more of an allowance
        return None
    covariances, edges = weighed_with(allowance)
    poses = from_first(fitted(allowance)[0])
    share = SHARED * len(edges) / (count - 1)
    return Settled(poses, share * marginals(edges, poses), share * covariances[rows])


def _allowance(enough: Callable[[float], bool]) -> float:
    """The smallest from `LEAST` to `UNKNOWN` that is enough."""
    low, high = LEAST, UNKNOWN
    if enough(low):
        return low
    while high > _WITHIN * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def renumbered(edges: Measured, scans: IntArray) -> Measured:
    """Between the scans of a part, counted from 0."""
    return Measured(
        np.searchsorted(scans, edges.i),
        np.searchsorted(scans, edges.j),
        edges.rotations,
        edges.shifts,
        edges.whitening,
    )


def from_first(poses: Poses) -> Poses:
    """In the frame of the first."""
    turn, origin = poses.rotations[0].T, poses.shifts[0]
    return Poses(turn @ poses.rotations, (poses.shifts - origin) @ turn.T)
