"""Could a similarity be chance? The same test as for motions; only how many of them a search can try is another number.

Three pairs that keep their distances give a motion. Three whose distances all change by the same factor, one that is
allowed, give a similarity: that happens more often by chance. How often is measured on the pairs, put together anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tear3d.find.search import Search
from tear3d.judge.chance import LARGEST, Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed, near_rows
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, rigid_part, scaled, similar

DRAWS = 50_000
"""Triples put together anew (free choice)."""
LEAST_IMAGE = 1.0
"""In noise bounds, root mean square: a scale that makes the source no larger than this is no pose, since anything near
one point of the target agrees with it (free choice)."""


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


class Triples:
    """The lengths of triples put together anew, for any noise bounds and scales."""

    def __init__(self, pairs: Pairs, *, seed: int = 0, draws: int = DRAWS) -> None:
        rng = np.random.default_rng(seed)
        source, target = (rng.integers(0, len(pairs), (3, draws)) for _ in range(2))
        sides = ((0, 1), (1, 2), (2, 0))
        self.a = np.array([np.linalg.norm(pairs.x[source[i]] - pairs.x[source[j]], axis=1) for i, j in sides])
        self.b = np.array([np.linalg.norm(pairs.y[target[i]] - pairs.y[target[j]], axis=1) for i, j in sides])
        self._source = source

    def chance(self, xi: FloatArray, span: ScaleRange) -> float:
        """Probability that three meaningless pairs agree with one allowed scale up to their noise bounds, one for all
        or one for each; never 0."""
        draws = self.a.shape[1]
        low, high = np.full(draws, span.low), np.full(draws, span.high)
        for k in range(3):
            a, b = self.a[k], self.b[k]
            c = 2.0 * xi if len(xi) == 1 else xi[self._source[k]] + xi[self._source[(k + 1) % 3]]
            with np.errstate(divide="ignore", invalid="ignore"):
                low = np.maximum(low, np.where(a > 0.0, (b - c) / a, np.where(b <= c, 0.0, np.inf)))
                high = np.minimum(high, np.where(a > 0.0, (b + c) / a, np.inf))
        return (int(np.count_nonzero(low <= high)) + 1) / (draws + 1)


def triple_chance(pairs: Pairs, span: ScaleRange, *, seed: int = 0, draws: int = DRAWS) -> float:
    """Probability that three meaningless pairs agree with one allowed scale up to their noise bounds; never 0."""
    return Triples(pairs, seed=seed, draws=draws).chance(pairs.xi, span)


class AtOwnScale:
    """Pairs with the source as large as a similarity makes it: there it is a motion, and is judged as one."""

    def __init__(self, pairs: Pairs, pose: Pose, triples: float, seed: int = 0) -> None:
        self.scale, rigid = rigid_part(pose)
        self.pose = rigid.orthonormal()
        self.pairs = scaled(pairs, self.scale)
        self.chance = SimilarChance(self.pairs, triples, seed)

    def inside(self, pose: Pose) -> Pose:
        """Another similarity, for these pairs."""
        return similar(1.0 / self.scale, pose)

    def contest(self, others: list[Pose], loss: Loss) -> Contest:
        """The similarity among others."""
        return contest(self.chance, self.pose, [self.inside(pose) for pose in others], loss)


def judge_at_own_scale(triples: float, seed: int = 0) -> Callable[[Pairs], Callable[[Pose], float]]:
    """For a search: from some pairs, the level of a similarity among them, each at its own scale."""

    def of(pairs: Pairs) -> Callable[[Pose], float]:
        def level(pose: Pose) -> float:
            own = AtOwnScale(pairs, pose, triples, seed)
            return own.chance(own.pose)

        return level

    return of


def scales_with_an_image(pairs: Pairs, given: ScaleRange) -> ScaleRange:
    """Those of some scales that leave the source larger than its noise; none when the lowest exceeds the highest.

    The source of `pairs` was multiplied with the middle of `given`, and so are these scales for that.
    """
    factor = given.middle
    least = _rounded_up(LEAST_IMAGE * pairs.typical_bound / max(pairs.radius, 1e-300) * factor) / factor
    span = given.over(factor)
    return ScaleRange(max(span.low, least), span.high)


def best_with_an_image(search: Search) -> Surveyed:
    """The best candidate of a search whose image is larger than the noise; if there is none, the best."""
    sample, members = search.pool.pairs, search.ranked()
    large = (member for member in members if not shrunk(sample, member.pose))
    return search.refined(next(large, members[0]))


def shrunk(pairs: Pairs, pose: Pose) -> bool:
    """Whether the image of what agrees with a similarity is no larger than the noise."""
    return image_size(pairs, pose) <= LEAST_IMAGE


def image_size(pairs: Pairs, pose: Pose) -> float:
    """How large the image of the pairs that agree with a similarity is, root mean square, in typical noise bounds;
    infinite when they are fewer than three."""
    rows = near_rows(pairs, pose)
    if len(rows) < 3:
        return np.inf
    x = pairs.x[rows] - pairs.x[rows].mean(axis=0)
    return rigid_part(pose)[0] * float(np.sqrt(np.mean(np.sum(x**2, axis=1)))) / pairs.typical_bound


def _rounded_up(value: float) -> float:
    """To two digits, upwards."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step) * step:.3g}")
