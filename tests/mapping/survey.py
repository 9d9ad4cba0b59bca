"""A generated survey: a scanner that goes around a loop over hilly ground."""

from __future__ import annotations

import numpy as np

from tests.bumpy import apply, pose

REACH = 4.0


def ground(places: np.ndarray, seed: int = 0) -> np.ndarray:
    """Heights of a landscape about 24 across."""
    rng = np.random.default_rng(seed)
    hills = rng.uniform(-13.0, 13.0, (420, 2))
    heights, widths = rng.uniform(-1.0, 1.6, len(hills)), rng.uniform(0.3, 0.9, len(hills))
    total = np.zeros(len(places))
    for hill, height, width in zip(hills, heights, widths, strict=True):
        total += height * np.exp(-np.sum((places - hill) ** 2, axis=1) / width**2)
    return total


def survey(count: int = 20, points: int = 4000, *, radius: float = 6.0, noise: float = 0.005, seed: int = 0):
    """Scans in the coordinates of their own scanner, and where each truly was, in the frame of the first."""
    rng = np.random.default_rng(seed)
    scans, poses = [], []
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        T = pose([0.0, 0.0, angle + 0.3 * rng.normal()], [radius * np.cos(angle), radius * np.sin(angle), 2.0])
        around, away = rng.uniform(0.0, 2.0 * np.pi, points), REACH * np.sqrt(rng.random(points))
        places = T[:2, 3] + np.column_stack((away * np.cos(around), away * np.sin(around)))
        seen = np.column_stack((places, ground(places)))
        scans.append(apply(np.linalg.inv(T), seen) + noise * rng.normal(size=seen.shape))
        poses.append(T)
    return scans, np.array([np.linalg.inv(poses[0]) @ T for T in poses])


def farthest(scan: np.ndarray, found: np.ndarray, truth: np.ndarray) -> float:
    """How far off a pose puts a point of the scan at most."""
    return float(np.linalg.norm(apply(found, scan) - apply(truth, scan), axis=1).max())
