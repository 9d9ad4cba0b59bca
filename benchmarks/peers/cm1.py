"""CM-1: the most pairs within the noise bound in the first coordinate, solved by branch and bound. A row, no pose."""

from __future__ import annotations

from benchmarks.peers import FloatArray, Found, rows

NAME = "CM-1"
THREADS = 1
PAPER = rows.PAPER
SETTINGS = rows.SETTINGS


def prepare() -> None:
    rows.prepare("cm")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    return rows.solve_first_row(source, target, noise_bound, "cm")
