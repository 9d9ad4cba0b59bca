"""A closed surface without symmetries, for tests that need clouds."""

from __future__ import annotations

import numpy as np

_CENTRES = np.random.default_rng(7).normal(size=(24, 3))
_CENTRES /= np.linalg.norm(_CENTRES, axis=1, keepdims=True)
_HEIGHTS = np.random.default_rng(8).uniform(-0.35, 0.5, 24)


def bumpy_cloud(count: int, seed: int) -> np.ndarray:
    """Random points of the surface, about 2 units across."""
    directions = np.random.default_rng(seed).normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = 1.0 + np.exp(20.0 * (directions @ _CENTRES.T - 1.0)) @ _HEIGHTS
    return directions * radius[:, None]


def pose(rotation_vector, translation) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotation_vector).as_matrix()
    T[:3, 3] = translation
    return T


def apply(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ T[:3, :3].T + T[:3, 3]
