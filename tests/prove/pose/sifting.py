"""Sifting small problems, and what a sift must not do: leave out a pair that saves something in a pose that matters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

from tear3d.problem.objective import full_saving
from tear3d.prove import whole
from tear3d.prove.pose import hubs, sieve, sift, trials
from tear3d.prove.pose.sift import Sifted

SMALL = [(8, 12, 20), (16, 24, 40), (40, 60, 100), (500, 500, 500)]
"""Sizes of parts: several parts, or one."""
FREE = {
    sift: {"FEWEST_PAIRS": 4, "FEWEST_OF_ALL": 4, "FEW_PAIRS": 0, "MOST_INLIERS": 1.0},
    trials: {"FOLLOWING": np.inf},
}
"""Choices that are part of no bound, so that small problems are sifted too."""


@contextmanager
def small_sieves(sizes, alive: float = np.inf) -> Iterator[list[tuple[Sifted, int]]]:
    """While the block runs small problems are sifted, in parts of such sizes, and noted: what was left, of how many."""
    noted: list[tuple[Sifted, int]] = []

    def noting(step):
        def sift_and_note(pairs, *args, **options):
            sifted = step(pairs, *args, **options)
            if sifted is not None:
                noted.append((sifted, len(pairs)))
            return sifted

        return sift_and_note

    with ExitStack() as stack:
        for module, values in FREE.items():
            stack.enter_context(mock.patch.multiple(module, **values))
        stack.enter_context(mock.patch.multiple(trials, SIZES=sizes, ALIVE=alive))
        stack.enter_context(mock.patch.multiple(sieve, SIZES=sizes))
        patches = {"sift": noting(sift.sift), "sift_by_hubs": noting(hubs.sift_by_hubs)}
        stack.enter_context(mock.patch.multiple(whole, **patches))
        yield noted


def savers(pairs, pose, loss):
    """The pairs that save something in a pose."""
    residual = pairs.y - pose.apply(pairs.x)
    xi = np.broadcast_to(pairs.xi, len(pairs))
    if loss.name == "tear":
        good = np.abs(residual).sum(axis=1) < xi
    else:
        square = np.sum(residual**2, axis=1)
        good = square <= xi**2 if loss.name == "cm" else square < xi**2
    return np.flatnonzero(good & (np.broadcast_to(pairs.w, len(pairs)) > 0.0))


def lost(pairs, pose, loss, sifted):
    """The pairs that a sift should not have left out, for what they save in this pose."""
    if full_saving(pairs, pose, loss) <= sifted.limit * (1.0 + 1e-12):
        return np.empty(0, np.int64)
    return np.setdiff1d(savers(pairs, pose, loss), sifted.index)
