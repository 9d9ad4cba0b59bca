"""This package with the proof of the pose itself, which is what it does unless told otherwise."""

from __future__ import annotations

from benchmarks.peers import FloatArray, Found
from benchmarks.peers.tear3d_answer import PAPER, load, solved

__all__ = ["NAME", "PAPER", "SETTINGS", "prepare", "register"]

NAME = "tear3d, pose proven"
SETTINGS = (
    'certify="pose", everything else as it comes: the proof stops at a gap of 1 %, after 60 s, or just before the '
    "cap of a run"
)


def prepare() -> None:
    load("pose")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    return solved(source, target, noise_bound, "pose")
