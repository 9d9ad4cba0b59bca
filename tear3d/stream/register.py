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
from tear3d.stream.checkpoint import check_path
from tear3d.stream.inputs import Asked, DaskRows, Opened
from tear3d.stream.local import Local
from tear3d.stream.pieces import check_shapes
from tear3d.stream.shares import MOST_PAIRS, Shares
from tear3d.stream.solve import solve_streamed


def register_in_pieces(opened: Opened, asked: Asked, options: Options, limits: Limits) -> Result:
    """Find, prove and judge, by passes over all pairs."""
    _check(opened, asked, options)
    shares, groups = Shares.of(asked.most), needed_in_pieces(options.certify)
    with compiled_apart(limits, groups):
        if asked.client is None:
            pieces = opened.pieces(shares.piece)
            runner: Any = Local(pieces, min(options.threads, shares.threads))
            return solve_streamed(runner, pieces.edges, options, limits, shares.room, asked.checkpoint)
        from tear3d.stream.cluster import Cluster, connect

        client, numbers = connect(asked.client), tuple(_there(rows) for rows in opened.numbers())
        runner = Cluster(client, opened.source, opened.target, numbers, shares.piece)
        try:
            runner.compile(groups)
            return solve_streamed(runner, runner.edges, options, limits, shares.room, asked.checkpoint)
        finally:
            runner.close()


def _there(numbers: Any) -> Any:
    """Noise bounds or weights for a cluster."""
    if isinstance(numbers, DaskRows):
        return numbers.array
    if not isinstance(numbers, np.ndarray):
        raise InputError("noise_bound or weights: with a client expected a number, or a Dask array with one per pair")
    return numbers


def _check(opened: Opened, asked: Asked, options: Options) -> None:
    """Refuse, before anything is read, what cannot be done."""
    check_shapes(opened.source, opened.target)
    if asked.checkpoint is not None:
        check_path(asked.checkpoint)
    if options.method != "tear3d" or options.certify == "rows":
        what = "method='paper'" if options.method != "tear3d" else "certify='rows'"
        raise InputError(f"{what} needs all pairs in memory: expected certify='pose' or False, or more memory_limit")
    if opened.source.shape[0] > MOST_PAIRS:
        raise InputError(f"source has {opened.source.shape[0]} points: expected at most {MOST_PAIRS} (2³⁰)")
