"""`register` for pairs in pieces, on this machine or on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.kernels import needed_in_pieces
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.result import Result
from tear3d.stream.inputs import Asked, DaskRows, Opened, is_dask
from tear3d.stream.local import Local
from tear3d.stream.shares import MOST_PAIRS, Shares
from tear3d.stream.solve import solve_streamed


def register_in_pieces(opened: Opened, asked: Asked, options: Options, limits: Limits) -> Result:
    """Find, prove and judge, by passes over all pairs."""
    _check(opened, options)
    shares, groups = Shares.of(asked.most), needed_in_pieces(options.certify)
    with compiled_apart(limits, groups):
        if asked.client is None:
            pieces = opened.pieces(shares.piece)
            runner: Any = Local(pieces, min(options.threads, shares.threads))
            return solve_streamed(runner, pieces.edges, options, limits, shares.room, asked.checkpoint)
        from tear3d.stream.cluster import Cluster, connect

        numbers = tuple(rows.array if isinstance(rows, DaskRows) else rows for rows in opened.numbers())
        if any(not is_dask(values) and np.size(values) != 1 for values in numbers):
            raise InputError("noise_bound or weights: expected a number, or a Dask array with one per pair")
        runner = Cluster(connect(asked.client), opened.source, opened.target, numbers, shares.piece)
        runner.compile(groups)
        return solve_streamed(runner, runner.edges, options, limits, shares.room, asked.checkpoint)


def _check(opened: Opened, options: Options) -> None:
    """Refuse what needs all pairs in memory."""
    if options.method != "tear3d" or options.certify == "rows":
        what = "method='paper'" if options.method != "tear3d" else "certify='rows'"
        raise InputError(f"{what} needs all pairs in memory: expected certify='pose' or False, or more memory_limit")
    if opened.source.shape[0] > MOST_PAIRS:
        raise InputError(f"source has {opened.source.shape[0]} points: expected at most {MOST_PAIRS} (2³⁰)")
