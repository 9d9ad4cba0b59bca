"""A cloud with everything, and a pose to move it by."""

from __future__ import annotations

import numpy as np

from tear3d import Cloud

QUARTER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
POSE = np.eye(4)
POSE[:3, :3], POSE[:3, 3] = QUARTER, [1, 2, 3]
PTX = (
    "2\n3\n1 2 3\n1 0 0\n0 1 0\n0 0 1\n0 1 0 0\n-1 0 0 0\n0 0 1 0\n10 20 30 1\n"
    "0 0 0 0.5 0 0 0\n1 0 0 0.25 255 0 1\n0 1 0 1 2 3 4\n0 0 1 0 5 6 7\n2 0 0 0 1 1 1\n3 0 0 0 1 1 1\n"
)


def rich_cloud(count: int) -> Cloud:
    rng = np.random.default_rng(count)
    normals = rng.normal(size=(count, 3))
    return Cloud(
        rng.normal(size=(count, 3)) * 10,
        {
            "colors": rng.integers(2, 256, (count, 3), dtype=np.uint8),
            "normals": (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32),
            "intensity": rng.random(count).astype(np.float32),
            "time": rng.random(count) * 1e9,
            "classification": rng.integers(0, 30, count, dtype=np.uint8),
            "ring": rng.integers(0, 64, count, dtype=np.uint16),
            "depth": rng.integers(-100, 100, count, dtype=np.int32),
        },
        viewpoint=np.array([1.0, 0, 0, 1, 0, 0, 0]),
    )
