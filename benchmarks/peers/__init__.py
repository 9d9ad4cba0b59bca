"""The systems we are compared with, and ourselves: one file each.

A peer is a file in this folder that has a ``NAME``; the others are what peers share. It has

- ``NAME``, what tables call it; ``PAPER``, where it was published;
- ``SETTINGS``, what it runs with and who recommends that, in a sentence or two;
- ``register(source, target, noise_bound)`` on N×3 float64 arrays of matched points → the 4×4 pose, target ← source (NaN
  where the system gives none), or a `Found` when there is more to say;
- optionally ``missing()`` → why it cannot run here, or None; ``prepare()``, what is compiled or loaded before the clock
  starts; ``METRES``, True if its constants assume metres: it is then given every problem scaled so that the noise
  bound is `SCALED_BOUND`; ``MEMORY``, "quadratic" where memory grows with the square of the number of pairs, and
  ``MOST_PAIRS``, how many of them it looks at; ``THREADS``, 1 if it uses one core only; ``PACKAGE``, what it is
  installed as.

A note ``cut`` says that a system ended for want of time with what it had.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
SCALED_BOUND = 0.1
"""The noise bound, in metres, that systems with constants in metres were made for (3DMatch)."""
CAP = "TEAR3D_BENCHMARK_SECONDS"
"""The variable with the cap on the time of a run."""
SMALL = 60
FEWEST = 3
"""Pairs that fix a pose: no system is asked about fewer."""


@dataclass(frozen=True)
class Found:
    """What a peer answers when it has more to say than a pose."""

    pose: FloatArray
    """4×4, target ← source; NaN where only a row was solved, or nothing found."""
    inliers: BoolArray | None = None
    """The pairs it takes for right, when it names them itself."""
    notes: dict[str, Any] = field(default_factory=dict)
    """Anything worth a column: iterations, status, gap."""


@dataclass(frozen=True)
class Peer:
    """A system to compare with."""

    key: str
    """Its file."""
    module: ModuleType

    @property
    def name(self) -> str:
        return str(self.module.NAME)

    @property
    def paper(self) -> str:
        return str(self.module.PAPER)

    @property
    def settings(self) -> str:
        return str(self.module.SETTINGS)

    @property
    def quadratic(self) -> bool:
        return getattr(self.module, "MEMORY", "linear") == "quadratic"

    @property
    def most_pairs(self) -> int | None:
        """Pairs that it looks at; the others take no part."""
        return getattr(self.module, "MOST_PAIRS", None)

    @property
    def threads(self) -> int | None:
        return getattr(self.module, "THREADS", None)

    @property
    def version(self) -> str | None:
        """Of the package it is installed as."""
        package = getattr(self.module, "PACKAGE", None)
        try:
            return f"{package} {metadata.version(package)}" if package else None
        except metadata.PackageNotFoundError:
            return None

    @property
    def metres(self) -> bool:
        return bool(getattr(self.module, "METRES", False))

    def missing(self) -> str | None:
        """Why it cannot run here."""
        return self.module.missing() if hasattr(self.module, "missing") else None

    def prepare(self) -> None:
        """Compile and load what it needs, and solve something small: first calls are slower in every library."""
        if hasattr(self.module, "prepare"):
            self.module.prepare()
        points = np.random.default_rng(0).normal(size=(SMALL, 3))
        self.register(points, points + 1.0, 0.05)

    def register(self, source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
        """The pose of matched points, whatever units the system assumes."""
        if len(source) < FEWEST:
            return Found(nowhere())
        scale = SCALED_BOUND / noise_bound if self.metres else 1.0
        found = self.module.register(scale * source, scale * target, scale * noise_bound)
        found = found if isinstance(found, Found) else Found(np.asarray(found, dtype=np.float64))
        pose = found.pose.copy()
        pose[:3, 3] /= scale
        return Found(pose, found.inliers, found.notes)


def keys() -> list[str]:
    """The files of all peers, installed or not."""
    files = sorted(Path(__path__[0]).glob("*.py"))
    return [file.stem for file in files if "\nNAME = " in file.read_text(encoding="utf-8")]


def peer(key: str) -> Peer:
    """The peer of a file."""
    if key not in keys():
        raise ValueError(f"{key!r} is not a peer: expected one of {', '.join(keys())}")
    return Peer(key, importlib.import_module(f"{__name__}.{key}"))


def peers() -> list[Peer]:
    """All peers, in the order of their files."""
    return [peer(key) for key in keys()]


def needs(package: str, extra: str | None = None) -> str | None:
    """Why a peer that needs a package cannot run, or None."""
    if importlib.util.find_spec(package) is not None:
        return None
    how = f"pip install '.[{extra}]'" if extra else "build it from its sources"
    return f"{package} is not installed ({how})"


def time_limit(usual: float) -> float:
    """Seconds for a system that can end early with what it has: as usual, but before its run is killed."""
    return min(usual, 0.9 * float(os.environ.get(CAP, "inf")))


def nowhere() -> FloatArray:
    """The pose of a system that found none."""
    return np.full((4, 4), np.nan)
