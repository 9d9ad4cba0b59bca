"""Problems with a known answer for every system: the paper's, and real ones from folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.measure import Limits
from benchmarks.runs.task import Problem
from tear3d.synthetic import make_problem

FloatArray = NDArray[np.float64]
SYNTHETIC = Limits(rotation=2.0, translation=0.1)
SYNTHETIC_RULE = (
    f"right: rotation error at most {SYNTHETIC.rotation:g}°, translation error at most {SYNTHETIC.translation:g}"
)


@dataclass(frozen=True)
class Given:
    """What a system gets, and what its answer is compared with."""

    source: FloatArray
    target: FloatArray
    noise_bound: float
    truth: FloatArray
    """4×4, target ← source."""
    inlier_mask: NDArray[np.bool_]
    limits: Limits
    dataset: str
    verdicts: Callable[[FloatArray], dict[str, bool]] | None = None
    """Whether a pose is right by each rule of the data set, by their names; the first is that of the limits."""


def make(problem: Problem) -> Given:
    """The arrays of a problem."""
    return _real(problem) if problem.folder else _synthetic(problem)


def _synthetic(problem: Problem) -> Given:
    made = make_problem(
        problem.n, problem.outlier_ratio, cloud=problem.cloud, outliers=problem.outliers, seed=problem.seed
    )
    arrays = (made.source, made.target, made.inlier_mask)
    if problem.keep is not None and problem.keep < problem.n:
        rng = np.random.default_rng(problem.seed)
        kept = np.sort(rng.choice(problem.n, problem.keep, replace=False))
        arrays = (made.source[kept], made.target[kept], made.inlier_mask[kept])
    source, target, inliers = arrays
    return Given(source, target, made.noise_bound, made.transformation, inliers, SYNTHETIC, "synthetic")


def _real(problem: Problem) -> Given:
    assert problem.folder is not None
    assert problem.layout is not None
    assert problem.name is not None
    pair = datasets.load(problem.folder, problem.layout, problem.name)
    return Given(
        pair.source,
        pair.target,
        pair.noise_bound,
        pair.truth,
        pair.inlier_mask,
        pair.limits,
        pair.dataset,
        pair.verdicts,
    )
