"""TEASER++ through its own Python package (MIT), which has to be built from its sources."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, needs, nowhere
from benchmarks.peers.rigid import pose

NAME = "TEASER++"
PAPER = "H. Yang, J. Shi, L. Carlone: TEASER: fast and certifiable point cloud registration. T-RO 2021"
SETTINGS = (
    "what its own examples use: cbar2 1, exact maximum clique (PMC), GNC-TLS with factor 1.4, 100 iterations and "
    "cost threshold 1e-12; the noise bound is ours, the scale is known. The graph of all pairs of pairs takes "
    "memory quadratic in their number"
)
MEMORY = "quadratic"


def missing() -> str | None:
    return needs("teaserpp_python")


def prepare() -> None:
    import teaserpp_python  # noqa: F401


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import teaserpp_python as teaser

    if len(source) < 3:
        return nowhere()
    solver_class = teaser.RobustRegistrationSolver
    params = solver_class.Params()
    params.cbar2 = 1.0
    params.noise_bound = noise_bound
    params.estimate_scaling = False
    params.rotation_estimation_algorithm = named(teaser, "RotationEstimationAlgorithm").GNC_TLS
    params.rotation_gnc_factor = 1.4
    params.rotation_max_iterations = 100
    params.rotation_cost_threshold = 1e-12
    params.inlier_selection_mode = named(teaser, "InlierSelectionMode").PMC_EXACT
    solver = solver_class(params)
    solver.solve(source.T.copy(), target.T.copy())
    solution = solver.getSolution()
    if not getattr(solution, "valid", True):
        return nowhere()
    return pose(np.asarray(solution.rotation), np.asarray(solution.translation))


def named(teaser, name: str):
    """An enumeration of the package: releases up to 1.1 keep it in the solver's class, in capitals."""
    nested = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)[1:].upper()
    inside = getattr(teaser.RobustRegistrationSolver, nested, None)
    return getattr(teaser, name) if inside is None else inside
