"""This package with the proof of two rows, one after the other: the paper's statement by faster bounds."""

from __future__ import annotations

from benchmarks.peers import FloatArray, Found
from benchmarks.peers.tear3d_answer import PAPER, load, solved

__all__ = ["NAME", "PAPER", "SETTINGS", "prepare", "register"]

NAME = "tear3d, rows proven"
SETTINGS = (
    'certify="rows", everything else as it comes: the proof stops at a gap of 0.1 %, after 60 s, or just before the '
    "cap of a run"
)


def prepare() -> None:
    load("rows")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    return solved(source, target, noise_bound, "rows")
