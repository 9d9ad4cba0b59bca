"""This package, the answer alone: no proof."""

from __future__ import annotations

import os
from typing import Any

import tear3d
from benchmarks.measure import DOUBLE, SINGLE
from benchmarks.peers import FloatArray, Found, nowhere, time_limit
from tear3d.errors import InputError
from tear3d.problem.options import PROOF_SECONDS, Certify
from tear3d.synthetic import make_problem

NAME = "tear3d, answer"
PAPER = (
    "T. Huang, L. Peng, R. Vidal, Y.-H. Liu: Scalable 3D registration via truncated entry-wise absolute residuals. "
    "CVPR 2024"
)
SETTINGS = "certify=False, everything else as it comes"


def prepare() -> None:
    load(False)


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    return solved(source, target, noise_bound, False)


def load(certify: Certify) -> None:
    """Compile or load what calls will need: kernels differ between sizes, and some are for long clouds only."""
    for n in (DOUBLE, SINGLE):
        for cloud in ("gaussian", "ellipsoid"):
            made = make_problem(n, 0.9, cloud=cloud, seed=1)
            tear3d.register(made.source, made.target, noise_bound=made.noise_bound, certify=certify, rel_gap=0.1)


def cores() -> int:
    """Those that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def solved(source: FloatArray, target: FloatArray, noise_bound: float, certify: Certify) -> Found:
    """What `tear3d.register` says, whatever it thinks of it; the status tells whether to believe it."""
    seconds = time_limit(PROOF_SECONDS)
    try:
        result = tear3d.register(
            source, target, noise_bound=noise_bound, certify=certify, threads=cores(), time_limit=seconds
        )
    except InputError as error:
        return Found(nowhere(), notes={"status": str(error)})
    notes: dict[str, Any] = {"status": result.status}
    if certify:
        proof = result.certificate
        notes |= {"cut": not proof.closed, "closed": proof.closed, "gap": proof.gap, "runner_up": proof.runner_up}
    return Found(result.transformation, result.inlier_mask, notes)
