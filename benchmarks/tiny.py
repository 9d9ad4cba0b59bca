"""Clouds of 50 to 500 points: copies of a cloud, and two samples of one surface.

`python -m benchmarks.tiny`. A pose is right when no point of the source is farther off than 5 % of its size.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import typer

import tear3d
from benchmarks.families import ASYMMETRIC, sampler
from benchmarks.output import show
from benchmarks.scans import FloatArray
from tear3d.shapes import teapot
from tear3d.synthetic import random_rotation

RIGHT = 0.05
"""In sizes of the cloud, its largest extent."""


class Kind(NamedTuple):
    """Pairs of clouds that differ in their seed and surface only."""

    title: str
    sizes: tuple[int, ...]
    copied: bool
    noise: float = 0.0
    """Of the target, in sizes of the cloud."""


KINDS = (
    Kind("copies", (50, 100, 200), True),
    Kind("copies with noise of 0.5 %", (50, 100, 200), True, 0.005),
    Kind("two samples", (100, 200, 500), False),
)


def bumpy(count: int, rng: np.random.Generator) -> FloatArray:
    """Points of a ball with bumps, the same one every time."""
    return sampler(ASYMMETRIC["bumpy"](np.random.default_rng(0)))(count, rng)


SURFACES = {"teapot": teapot, "bumpy ball": bumpy}


def error(surface: str, kind: Kind, count: int, seed: int) -> tuple[bool, float]:
    """Success, and how far off the pose puts the worst point, in sizes of the cloud."""
    rng = np.random.default_rng((seed, count))
    source = SURFACES[surface](count, rng)
    other = source[rng.permutation(count)] if kind.copied else SURFACES[surface](count, rng)
    size = np.ptp(source, axis=0).max()
    rotation, translation = random_rotation(rng), size * rng.normal(size=3)
    target = other @ rotation.T + translation + kind.noise * size * rng.normal(size=other.shape)
    found = tear3d.register_clouds(source, target, certify=False, threads=1)
    off = source @ (found.transformation[:3, :3] - rotation).T + found.transformation[:3, 3] - translation
    return found.success, float(np.linalg.norm(off, axis=1).max() / size)


def row(surface: str, kind: Kind, count: int, seeds: int) -> list[str]:
    """A row of the table."""
    found = [error(surface, kind, count, seed) for seed in range(seeds)]
    right = [off for success, off in found if success and off <= RIGHT]
    wrong = sum(success for success, _ in found) - len(right)
    silent = sum(off <= RIGHT for success, off in found if not success)
    worst = f"{100.0 * max(right):.1f} %" if right else ""
    return [kind.title, surface, str(count), f"{len(right)} of {seeds}", str(wrong), str(silent), worst]


def main(seeds: Annotated[int, typer.Option(min=1, help="Pairs of clouds a row.")] = 20) -> None:
    """How many tiny clouds are recognised."""
    rows = [row(surface, kind, count, seeds) for kind in KINDS for count in kind.sizes for surface in SURFACES]
    columns = ("clouds", "surface", "points", "success, right", "success, wrong", "right, no success", "worst error")
    show("Tiny clouds", columns, rows, words=2)


if __name__ == "__main__":
    typer.run(main)
