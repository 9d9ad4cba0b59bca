"""How far a pose is off, in the terms of its covariance."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def pose_error(estimate: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(ω, v) with truth = estimate · Exp(ω, v)."""
    between = np.linalg.inv(estimate) @ truth
    return np.concatenate([Rotation.from_matrix(between[:3, :3]).as_rotvec(), between[:3, 3]])


def nees(covariance: np.ndarray, estimate: np.ndarray, truth: np.ndarray) -> float:
    """eᵀ C⁻¹ e, 6 on average."""
    error = pose_error(estimate, truth)
    return float(error @ np.linalg.solve(covariance, error))
