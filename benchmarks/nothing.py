"""Problems without a true pose, of the kinds that fool: patches that move on their own, planes, crowded places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

Problem = tuple[np.ndarray, np.ndarray, float]


def uniform(rng: np.random.Generator) -> Problem:
    n = int(10 ** rng.uniform(1.0, 3.2))
    return rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (n, 3)), 10 ** rng.uniform(-2.0, -0.7)


def planes(rng: np.random.Generator) -> Problem:
    n, count = int(rng.integers(50, 1000)), int(rng.integers(1, 5))

    def cloud() -> np.ndarray:
        plane = rng.integers(0, count, n)
        points = rng.uniform(-1, 1, (n, 3))
        points[np.arange(n), rng.integers(0, 3, count)[plane]] = rng.uniform(-1, 1, count)[plane]
        return points + rng.normal(0.0, 0.01, (n, 3))

    return cloud(), cloud(), float(rng.choice([0.05, 0.1, 0.2]))


def crowds(rng: np.random.Generator) -> Problem:
    """Many source points matched to few targets, and the other way round."""
    n, few = int(rng.integers(200, 1500)), int(rng.integers(5, 60))
    x, y = rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (n, 3))
    y[: n // 2] = y[rng.integers(0, few, n // 2)]
    x[n // 2 :] = x[rng.integers(0, few, n - n // 2)]
    return x, y, 0.05


def patches(rng: np.random.Generator) -> Problem:
    """Balls and discs of neighbours, each with a motion of its own, among wrong pairs."""
    n, count = int(rng.integers(300, 2500)), int(rng.integers(6, 60))
    x, y = rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (n, 3))
    inside = int(n * rng.uniform(0.1, 1.0))
    patch = rng.integers(0, count, inside)
    offsets = rng.normal(size=(inside, 3))
    offsets *= (
        rng.uniform(0.05, 0.4)
        * rng.uniform(size=(inside, 1)) ** (1 / 3)
        / np.linalg.norm(offsets, axis=1, keepdims=True)
    )
    if rng.uniform() < 0.5:
        offsets[:, 2] *= 0.02
    before, after = (Rotation.random(count, random_state=rng).as_matrix()[patch] for _ in range(2))
    x[:inside] = rng.uniform(-1, 1, (count, 3))[patch] + np.einsum("nij,nj->ni", before, offsets)
    y[:inside] = rng.uniform(-1, 1, (count, 3))[patch] + np.einsum("nij,nj->ni", after, offsets)
    y[:inside] += rng.normal(0.0, 0.01, (inside, 3))
    return x, y, 0.05


KINDS = {"uniform": uniform, "planes": planes, "crowds": crowds, "patches": patches}


def problems(kind: str, count: int) -> Iterator[Problem]:
    for seed in range(count):
        yield KINDS[kind](np.random.default_rng((seed, len(kind))))
