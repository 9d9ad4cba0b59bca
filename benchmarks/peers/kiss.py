"""KISS-Matcher's pruning and solver on given pairs; releases without `prune_and_solve` cannot be used so."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import FloatArray, installed, pose

NAME = "KISS-Matcher"


def available() -> bool:
    if not installed("kiss_matcher"):
        return False
    import kiss_matcher

    return hasattr(kiss_matcher.KISSMatcher, "prune_and_solve")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import kiss_matcher

    # The solver's noise bound is a multiple of the voxel size.
    matcher = kiss_matcher.KISSMatcher(kiss_matcher.KISSMatcherConfig(noise_bound))
    solution = matcher.prune_and_solve(list(source.astype(np.float32)), list(target.astype(np.float32)))
    return pose(np.asarray(solution.rotation), np.asarray(solution.translation))
