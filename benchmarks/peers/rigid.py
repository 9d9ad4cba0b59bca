"""What most peers need: least squares of matched points, residuals, poses as matrices."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray


def pose(rotation: FloatArray, translation: FloatArray) -> FloatArray:
    """The 4×4 transformation of a rotation and a translation."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation
    matrix[:3, 3] = np.ravel(translation)
    return matrix


def fit(x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Least squares by SVD (Arun; Umeyama without scale): the pose that takes x to y, one matched pair a row."""
    w = np.ones(len(x)) if weights is None else weights
    w = w / w.sum()
    a, b = w @ x, w @ y
    u, _, vt = np.linalg.svd((y - b).T @ ((x - a) * w[:, None]))
    rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return pose(rotation, b - rotation @ a)


def fit_all(x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """`fit` for many sets at once: (B, N, 3) arrays and (B, N) weights → (B, 4, 4)."""
    w = np.ones(x.shape[:2]) if weights is None else weights
    w = w / np.maximum(w.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    a, b = (np.einsum("bn,bni->bi", w, p) for p in (x, y))
    covariance = np.einsum("bn,bni,bnj->bij", w, y - b[:, None], x - a[:, None])
    u, _, vt = np.linalg.svd(covariance)
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    poses = np.broadcast_to(np.eye(4), (len(x), 4, 4)).copy()
    poses[:, :3, :3] = u @ vt
    poses[:, :3, 3] = b - np.einsum("bij,bj->bi", poses[:, :3, :3], a)
    return poses


def residuals(transformation: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Distances between targets and moved sources."""
    return np.linalg.norm(y - x @ transformation[:3, :3].T - transformation[:3, 3], axis=1)
