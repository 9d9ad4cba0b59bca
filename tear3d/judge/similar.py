"""Could a similarity be chance? The same test as for motions; only how many of them a search can try is another number.

Three pairs that keep their distances give a motion. Three whose distances all change by the same factor, one that is
allowed, give a similarity: that happens more often by chance. How often is measured on the pairs, put together anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tear3d.judge.chance import LARGEST, Chance
from tear3d.problem.objective import near_rows
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, rigid_part, scaled

DRAWS = 50_000
"""Triples put together anew (free choice)."""


class SimilarChance(Chance):
    """The levels of poses over pairs whose source is scaled as the best similarity says.

    Others may have another scale in their matrix. Source voxels are then not quite of their size; target voxels are,
    and the level is that of the side that shows less.
    """

    def __init__(self, pairs: Pairs, triples: float, seed: int = 0, most: int = LARGEST) -> None:
        super().__init__(pairs, seed, most)
        self.triples = triples

    def like(self, pairs: Pairs) -> Chance:
        return self if pairs is self._given else SimilarChance(pairs, self.triples, self.seed)

    def _among(self, most: int) -> Chance:
        return SimilarChance(self._given, self.triples, self.seed, most)

    @property
    def _length_chance(self) -> float:  # type: ignore[override]
        """Of one of three lengths, so that three together are as likely as a triple."""
        return self.triples ** (1.0 / 3.0)


def triple_chance(pairs: Pairs, span: ScaleRange, *, seed: int = 0, draws: int = DRAWS) -> float:
    """Probability that three meaningless pairs agree with one allowed scale up to their noise bounds; never 0."""
    rng = np.random.default_rng(seed)
    source, target = (rng.integers(0, len(pairs), (3, draws)) for _ in range(2))
    low, high = np.full(draws, span.low), np.full(draws, span.high)
    xi = np.broadcast_to(pairs.xi, len(pairs))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        a = np.linalg.norm(pairs.x[source[i]] - pairs.x[source[j]], axis=1)
        b = np.linalg.norm(pairs.y[target[i]] - pairs.y[target[j]], axis=1)
        c = xi[source[i]] + xi[source[j]]
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.maximum(low, np.where(a > 0.0, (b - c) / a, np.where(b <= c, 0.0, np.inf)))
            high = np.minimum(high, np.where(a > 0.0, (b + c) / a, np.inf))
    return (int(np.count_nonzero(low <= high)) + 1) / (draws + 1)


def judge_at_own_scale(triples: float, seed: int = 0) -> Callable[[Pairs], Callable[[Pose], float]]:
    """For a search: from some pairs, the level of a similarity among them, each at its own scale."""

    def of(pairs: Pairs) -> Callable[[Pose], float]:
        def level(pose: Pose) -> float:
            scale, rigid = rigid_part(pose)
            return SimilarChance(scaled(pairs, scale), triples, seed)(rigid)

        return level

    return of


def image_size(pairs: Pairs, pose: Pose) -> float:
    """How large the image of the pairs that agree with a similarity is, root mean square, in typical noise bounds;
    infinite when they are fewer than three."""
    rows = near_rows(pairs, pose)
    if len(rows) < 3:
        return np.inf
    x = pairs.x[rows] - pairs.x[rows].mean(axis=0)
    return rigid_part(pose)[0] * float(np.sqrt(np.mean(np.sum(x**2, axis=1)))) / pairs.typical_bound
