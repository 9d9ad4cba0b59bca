"""The paper's own method as it is printed: both rows by its bounds on its cells, then least squares; one thread."""

from __future__ import annotations

import math

import tear3d
from benchmarks.peers import FloatArray, Found, nowhere, time_limit
from benchmarks.peers.tear3d_answer import PAPER as PAPER
from tear3d.errors import InputError
from tear3d.synthetic import make_problem

NAME = "TEAR, the paper's method"
THREADS = 1
SETTINGS = (
    "method='paper', limited by the cap of a run only: bounds, cells, axes and the last step as printed, branches down "
    "to 1e-3 rad (its appendix); its gap is not printed: 0.001 of the saving. The paper's tables were made with a "
    "parallel version"
)


def prepare() -> None:
    made = make_problem(200, 0.5, seed=1)
    tear3d.register(made.source, made.target, noise_bound=made.noise_bound, method="paper", rel_gap=0.1)


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    limit = time_limit(math.inf)
    try:
        result = tear3d.register(source, target, noise_bound=noise_bound, method="paper", time_limit=limit)
    except InputError as error:
        return Found(nowhere(), notes={"status": str(error)})
    notes = {
        "cut": result.status == "time_limit",
        "status": result.status,
        "gap": result.certificate.gap,
        "cells": result.certificate.cells,
    }
    return Found(result.transformation, result.inlier_mask, notes)
