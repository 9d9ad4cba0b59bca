"""Pairs without a true pose, of the kinds that fool: patches that move on their own, planes, crowded places.

`HARD` are those that the significance is known to get wrong: `docs/verdict.md` has its limits.
"""

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


def corridors(rng: np.random.Generator) -> Problem:
    """Right in two coordinates, random along the third: where along a corridor one is cannot be told."""
    n, size = int(rng.integers(200, 2000)), np.array([rng.uniform(2.0, 8.0), 1.0, 1.0])
    x = rng.uniform(-1, 1, (n, 3)) * size
    y = x + rng.normal(0.0, 0.01, (n, 3))
    y[:, 0] = rng.uniform(-1, 1, n) * size[0]
    return x, _turned(_some_wrong(y, rng), rng), 0.05


def warps(rng: np.random.Generator) -> Problem:
    """Bent smoothly: near any place a motion fits, none fits as a whole."""
    x = rng.uniform(-1, 1, (int(rng.integers(300, 2500)), 3))
    y = x + rng.uniform(0.1, 0.5) * np.sin(2.0 * x @ rng.normal(size=(3, 3)) + rng.normal(size=3))
    return x, _turned(_some_wrong(y, rng), rng), 0.05


def coarse(rng: np.random.Generator) -> Problem:
    """Half of the pairs are right, the noise bound is 40 % of the extent of the cloud: not nothing, but called so."""
    x = rng.uniform(-1, 1, (int(10 ** rng.uniform(1.3, 2.7)), 3))
    y = x + rng.normal(0.0, 0.01, x.shape)
    y[::2] = rng.permutation(y[::2])
    return x, _turned(y, rng), 0.8


def motions(rng: np.random.Generator) -> Problem:
    """Four to eight motions with equally many pairs each, all over the cloud: not nothing, but called so."""
    each, count = int(rng.integers(50, 300)), int(rng.integers(4, 9))
    x = rng.uniform(-1, 1, (each * count, 3))
    y = np.concatenate([_turned(part, rng) + rng.uniform(-1, 1, 3) for part in np.split(x, count)])
    return x, y + rng.normal(0.0, 0.01, x.shape), 0.05


def _some_wrong(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    wrong = rng.uniform(size=len(y)) < rng.uniform(0.0, 0.8)
    y[wrong] = rng.permutation(y[wrong])
    return y


def _turned(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(points @ Rotation.random(random_state=rng).as_matrix().T)


KINDS = {"uniform": uniform, "planes": planes, "crowds": crowds, "patches": patches}
HARD = {"corridors": corridors, "warps": warps, "coarse bound": coarse, "equal motions": motions}


def problems(kind: str, count: int) -> Iterator[Problem]:
    make = (KINDS | HARD)[kind]
    for seed in range(count):
        yield make(np.random.default_rng((seed, len(kind))))
