"""How fast this machine is now: limits on time are meant for the machine on which they were set."""

from __future__ import annotations

import numpy as np

from benchmarks.passes import pass_seconds

PASS = 157e-6
"""Seconds of a plain pass over 10⁵ pairs there, with nothing else to do."""


def slower() -> float:
    """How many times longer a plain pass takes here, but at least 1."""
    points = np.random.default_rng(0).normal(size=(2, 100_000, 3))
    return max(1.0, pass_seconds(*points, repeats=9) / PASS)
