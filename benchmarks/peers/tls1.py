"""TLS-1: truncated squared residuals of the first coordinate, solved by branch and bound. A row, no pose.

Its lower bound is that of the paper's Algorithm 6, computed in O(N log N) instead of O(N²): count, sum and sum of
squares of the pairs are kept while the interval ends are swept. So its time says less for TEAR than the paper's.
"""

from __future__ import annotations

from benchmarks.peers import FloatArray, Found, rows

NAME = "TLS-1"
THREADS = 1
PAPER = rows.PAPER
SETTINGS = rows.SETTINGS + "; lower bound in O(N log N), not O(N²) as printed"


def prepare() -> None:
    rows.prepare("tls")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    return rows.solve_first_row(source, target, noise_bound, "tls")
