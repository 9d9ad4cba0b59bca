"""One registration with everything the tables show about it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import tear3d
from tear3d.metrics import precision_recall_f1, rotation_error, translation_error
from tear3d.synthetic import Problem, make_problem

DOUBLE, SINGLE = 500, 60_000
"""Sizes for which the search stores its points in float64 and in float32; each is compiled separately."""


class Limits(NamedTuple):
    """Errors below which a pose counts as right."""

    rotation: float
    """Degrees."""
    translation: float


@dataclass(frozen=True)
class Run:
    """What one registration took and gave."""

    seconds: float
    rotation_error: float
    translation_error: float
    f1: float
    status: str
    success: bool
    closed: bool
    gap: float
    cells: int
    stages: dict[str, float]

    def right(self, limits: Limits) -> bool:
        return self.rotation_error < limits.rotation and self.translation_error < limits.translation


def timed_register(problem: Problem, **options: Any) -> tuple[float, tear3d.Result]:
    """Wall-clock seconds and the result of `tear3d.register`."""
    started = time.perf_counter()
    options = {"certify": "rows", "time_limit": None} | options
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, **options)
    return time.perf_counter() - started, result


def run(problem: Problem, **options: Any) -> Run:
    """Register a problem with a known answer."""
    seconds, result = timed_register(problem, **options)
    return Run(
        seconds=seconds,
        rotation_error=rotation_error(result.transformation, problem.transformation),
        translation_error=translation_error(result.transformation, problem.transformation),
        f1=precision_recall_f1(result.inlier_mask, problem.inlier_mask).f1,
        status=result.status,
        success=result.success,
        closed=result.certificate.closed,
        gap=result.certificate.gap,
        cells=result.certificate.cells,
        stages=dict(result.seconds),
    )


def warm_up(threads: int | None = None, largest: int = SINGLE) -> float:
    """Compile what runs on up to `largest` pairs will need; returns the seconds that took."""
    started = time.perf_counter()
    for n in (DOUBLE, SINGLE):
        if n <= largest or n == DOUBLE:
            for cloud in ("gaussian", "ellipsoid"):
                problem = make_problem(n, 0.9, cloud=cloud, seed=1)
                timed_register(problem, threads=threads, rel_gap=0.1)
    return time.perf_counter() - started
