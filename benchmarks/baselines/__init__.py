"""Peers to compare with: one file each, used when the package it needs is installed.

A peer is a module with

- ``NAME``, and optionally ``MOST_PAIRS``, the size beyond which it runs out of memory,
- ``available() -> bool``,
- ``register(source, target, noise_bound) -> 4×4``, target ← source, on N×3 float64 arrays of matched points.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_FILES = ("ransac", "open3d_ransac", "open3d_fgr", "teaserpp", "kiss", "colmap")


@dataclass(frozen=True)
class Peer:
    """A method to compare with."""

    name: str
    register: Callable[[FloatArray, FloatArray, float], FloatArray]
    most_pairs: float = math.inf


def peers() -> list[Peer]:
    """All that can run here, in the order of the files above."""
    modules = [importlib.import_module(f"{__name__}.{name}") for name in _FILES]
    return [
        Peer(module.NAME, module.register, getattr(module, "MOST_PAIRS", math.inf))
        for module in modules
        if module.available()
    ]


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def pose(rotation: FloatArray, translation: FloatArray) -> FloatArray:
    """The 4×4 transformation of a rotation and a translation."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation
    matrix[:3, 3] = np.ravel(translation)
    return matrix
