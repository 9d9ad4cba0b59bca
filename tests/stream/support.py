"""Problems in pieces for the tests, small enough for a second and with pieces smaller still."""

from __future__ import annotations

from typing import Any

import numpy as np

from tear3d.lab.synthetic import Problem, make_problem
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.result import Result
from tear3d.stream.local import Local
from tear3d.stream.pieces import Pieces
from tear3d.stream.rows import ArrayRows, Rows
from tear3d.stream.solve import solve_streamed

ROOM = 1 << 28


def problem(n: int = 30_000, outlier_ratio: float = 0.9, seed: int = 0, **options: Any) -> Problem:
    return make_problem(n, outlier_ratio=outlier_ratio, seed=seed, **options)


def pieces_of(given: Problem, size: int, noise_bound: Any = None, weights: Any = None) -> Pieces:
    bound: Rows | np.ndarray = np.array([given.noise_bound])
    if noise_bound is not None:
        bound = ArrayRows(np.asarray(noise_bound))
    weight: Rows | np.ndarray = np.ones(1) if weights is None else ArrayRows(np.asarray(weights))
    return Pieces.of(ArrayRows(given.source), ArrayRows(given.target), bound, weight, size)


def solve(
    pieces: Pieces, *, threads: int = 2, room: int = ROOM, limits: Limits | None = None, **options: Any
) -> Result:
    chosen = Options.of(threads=threads, **options)
    return solve_streamed(Local(pieces, threads), pieces.edges, chosen, limits or chosen.limits(), room)
