"""KISS-Matcher on given pairs: the largest core of the graph of pairs whose lengths agree, then its solver on the core.

Through its own package (MIT). It never frees the graph: the memory of one run shows in a fresh process only.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, needs, nowhere
from benchmarks.peers.rigid import pose

NAME = "KISS-Matcher"
PACKAGE = "kiss-matcher"
PAPER = "H. Lim et al.: KISS-Matcher: fast and robust point cloud registration revisited. ICRA 2025"
SETTINGS = (
    "kiss_matcher's prune_and_solve with the authors' defaults for a voxel as large as the noise bound: lengths "
    "agree within 1, the solver's noise bound is 0.75 of it; num_max_corr above the number of pairs, whose default "
    "of 5000 would leave pairs out. Its defaults were made for metres: problems are scaled so that the noise bound "
    "is 0.1"
)
METRES = True
MEMORY = "quadratic"


def missing() -> str | None:
    return lacks("prune_and_solve")


def lacks(method: str) -> str | None:
    """Why the installed release cannot be used on given pairs by this method, or None."""
    absent = needs("kiss_matcher", "peers")
    if absent:
        return absent
    import kiss_matcher

    if hasattr(kiss_matcher.KISSMatcher, method):
        return None
    version = getattr(kiss_matcher, "__version__", "")
    return f"kiss_matcher {version} has no {method}, which takes given pairs (pip install '.[peers]')"


def prepare() -> None:
    import kiss_matcher  # noqa: F401


def matcher(noise_bound: float, n: int):
    """KISS-Matcher for n pairs."""
    import kiss_matcher

    return kiss_matcher.KISSMatcher(kiss_matcher.KISSMatcherConfig(voxel_size=noise_bound, num_max_corr=n + 1))


def answer(solution) -> FloatArray:
    """The pose of a solution, if it is one."""
    return pose(np.asarray(solution.rotation), np.asarray(solution.translation)) if solution.valid else nowhere()


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    if len(source) < 3:
        return nowhere()
    # It takes single precision, which coordinates far from the origin would not survive.
    a, b = source.mean(axis=0), target.mean(axis=0)
    pairs = (list(points.astype(np.float32)) for points in (source - a, target - b))
    found = answer(matcher(noise_bound, len(source)).prune_and_solve(*pairs))
    found[:3, 3] += b - found[:3, :3] @ a
    return found
