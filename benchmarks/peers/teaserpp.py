"""TEASER++ with the settings of its own examples. Its memory is quadratic in the number of pairs."""

from __future__ import annotations

from benchmarks.baselines import FloatArray, installed, pose

NAME = "TEASER++"
MOST_PAIRS = 9_000


def available() -> bool:
    return installed("teaserpp_python")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import teaserpp_python as teaser

    solver_class = teaser.RobustRegistrationSolver
    params = solver_class.Params()
    params.cbar2 = 1.0
    params.noise_bound = noise_bound
    params.estimate_scaling = False
    params.rotation_estimation_algorithm = _gnc_tls(teaser)
    params.rotation_gnc_factor = 1.4
    params.rotation_max_iterations = 100
    params.rotation_cost_threshold = 1e-12
    solver = solver_class(params)
    solver.solve(source.T.copy(), target.T.copy())
    solution = solver.getSolution()
    return pose(solution.rotation, solution.translation)


def _gnc_tls(teaser):
    """Releases differ in where the name lives."""
    nested = getattr(teaser.RobustRegistrationSolver, "ROTATION_ESTIMATION_ALGORITHM", None)
    return (nested or teaser.RotationEstimationAlgorithm).GNC_TLS
