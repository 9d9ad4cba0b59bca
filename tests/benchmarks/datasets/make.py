"""Small data sets in the official layouts, made of one surface seen from several poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.datasets import DataPair
from tear3d.io import write_cloud
from tests.bumpy import apply, bumpy_cloud, pose

POINTS = 400
SHARED = 240
"""Points of the surface that two fragments have in common."""
SCENE = "7-scenes-redkitchen"


def stand(k: int) -> np.ndarray:
    """World ← fragment k; no two motions between fragments are alike, and none is its own inverse."""
    return pose([0.3 * k, -0.2 * k * k, 0.5 * k], [1.0 * k, -2.0 * k, 0.5 * k * k])


def true_motion(source: int, target: int) -> np.ndarray:
    return np.linalg.inv(stand(target)) @ stand(source)


def surface(size: float = 2.0, count: int = 3 * POINTS) -> np.ndarray:
    return size * bumpy_cloud(count, 3)


def rows_of(k: int) -> np.ndarray:
    """Which points of the surface fragment k has: neighbours share SHARED of them, in another order."""
    rows = np.arange(k * (POINTS - SHARED), k * (POINTS - SHARED) + POINTS)
    return np.random.default_rng(k).permutation(rows)


def fragment(k: int) -> np.ndarray:
    return apply(np.linalg.inv(stand(k)), surface()[rows_of(k)])


def descriptors(k: int, width: int = 6) -> np.ndarray:
    """The same for the same point of the surface."""
    return np.random.default_rng(9).normal(size=(3 * POINTS, width))[rows_of(k)].astype(np.float32)


def write_log(path: Path, pairs: list[tuple[int, int]], fragments: int = 4) -> None:
    """i j n and the motion from fragment j to fragment i."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for i, j in pairs:
        lines.append(f"{i}\t{j}\t{fragments}")
        lines += ["\t".join(f"{value:.12f}" for value in row) for row in true_motion(j, i)]
    path.write_text("\n".join(lines) + "\n")


def information(points: np.ndarray) -> np.ndarray:
    """Σ GᵀG, G = (I | −2[p]×)."""
    total = np.zeros((6, 6))
    for x, y, z in points:
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        g = np.hstack([np.eye(3), -2.0 * cross])
        total += g.T @ g
    return total


def write_info(path: Path, pairs: list[tuple[int, int]]) -> None:
    lines = []
    for i, j in pairs:
        lines.append(f"{i} {j} 4")
        lines += [" ".join(f"{value:.10g}" for value in row) for row in information(fragment(j))]
    path.write_text("\n".join(lines) + "\n")


def threedmatch(root: Path, pairs: list[tuple[int, int]] | None = None, scene: str = SCENE) -> Path:
    """Clouds, the keypoints as row numbers in 01_Keypoints, descriptors in 02_Features, gt.log; returns the scene."""
    pairs = pairs or [(0, 1), (1, 2), (0, 2)]
    folder = root / scene
    for name in ("01_Keypoints", "02_Features"):
        (folder / name).mkdir(parents=True)
    for k in sorted({k for pair in pairs for k in pair}):
        write_cloud(folder / f"cloud_bin_{k}.ply", fragment(k))
        chosen = np.arange(POINTS)[::-1]
        np.savetxt(folder / "01_Keypoints" / f"cloud_bin_{k}Keypoints.txt", chosen, fmt="%d")
        np.savez(folder / "02_Features" / f"cloud_bin_{k}_0.150000_16_1.750000_CNN.npz", data=descriptors(k)[chosen])
    write_log(folder / "gt.log", pairs)
    return folder


def share_within(pair: DataPair, motion: np.ndarray) -> float:
    return float(pair.within(motion).mean())


def check_truth(pair: DataPair, least: float = 0.5) -> None:
    """The truth maps source points to their matches; its inverse does not."""
    assert share_within(pair, pair.truth) >= least
    assert share_within(pair, np.linalg.inv(pair.truth)) < 0.1 * least
