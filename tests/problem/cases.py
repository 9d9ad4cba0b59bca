"""Pairs for tests: from a made-up problem, or put together without any check."""

from __future__ import annotations

import numpy as np

from tear3d.lab.synthetic import Problem
from tear3d.problem.frame import Frame
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose


def pairs_of(problem: Problem) -> Pairs:
    return Pairs.of(problem.source, problem.target, problem.noise_bound)


def unchecked(x, y, xi, w=1.0) -> Pairs:
    """Pairs in the coordinates given, whatever they are."""
    zero = np.zeros(3)
    x, y = (np.ascontiguousarray(points, np.float64) for points in (x, y))
    xi, w = (np.atleast_1d(np.asarray(values, np.float64)) for values in (xi, w))
    return Pairs(x, y, xi, w, Frame(zero, zero), zero, zero, None, len(x))


def truth_inside(problem: Problem, pairs: Pairs) -> Pose:
    """The true pose in the coordinates of the pairs."""
    frame = pairs.frame
    outside = Pose.of(problem.rotation, problem.translation)
    moved = outside.between(frame.source, frame.target)
    return Pose(moved.rotation, moved.translation / frame.unit)


def rotation_about(axis, angle) -> np.ndarray:
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)
