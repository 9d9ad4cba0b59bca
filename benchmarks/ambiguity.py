"""Shapes that fit in several ways, and shapes that do not: is the one called ambiguous, and the other never?

Random shapes of many families (benchmarks/families.py), half of them symmetric. Each is scanned twice: other points,
other numbers of them, noise of a quarter of a voxel, and in every second pair each scan misses a part of its own, up to
a fifth of the points, but never the handle of a mug, without which it is round. They are registered without a proof,
from a random pose; `--true-pose` spares the registration and takes the pose the scans were made with. Prints what went
wrong and a table by family; writes ambiguity.json::

    python -m benchmarks.ambiguity                      # 200 and 200, an hour on one core
    python -m benchmarks.ambiguity --true-pose          # some minutes
    python -m benchmarks.ambiguity --count 20 --first 1000
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import tear3d
from benchmarks.families import ASYMMETRIC, SMALL_KEYS, SYMMETRIC, Family, sampler
from benchmarks.output import OUT, console, seconds, show, write_json
from benchmarks.solids import FloatArray
from tear3d.clouds.symmetry import ambiguity
from tear3d.features.voxel import choose_voxel_size, voxel_downsample

NOISE = 0.25
"""Standard deviation per axis, in voxels."""
MISSING = 0.2
POINTS = (8_000, 25_000)


@dataclass(frozen=True)
class Case:
    """One pair of scans and what was said about it."""

    family: str
    seed: int
    symmetric: bool
    partial: bool
    flagged: bool
    sentence: str
    seconds: float
    """Of the question alone, with `--true-pose`; of the whole call without."""

    @property
    def right(self) -> bool:
        return self.flagged == self.symmetric


def scans(family: Family, seed: int, partial: bool, upright: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two scans of one random shape, and the pose target ← source."""
    rng = np.random.default_rng(seed)
    points = sampler(family(rng))
    clouds = [points(int(rng.integers(*POINTS)), rng) for _ in range(2)]
    if partial:
        clouds = [_without_a_part(cloud, rng, upright) for cloud in clouds]
    spread = NOISE * choose_voxel_size(*clouds)
    source, target = (cloud + rng.normal(0.0, spread, cloud.shape) for cloud in clouds)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = tear3d.synthetic.random_rotation(rng), rng.normal(0.0, 3.0, 3)
    return source, target @ pose[:3, :3].T + pose[:3, 3], pose


def _without_a_part(cloud: FloatArray, rng: np.random.Generator, upright: bool) -> FloatArray:
    """Cut off by a plane, if upright from below or from above."""
    height = cloud @ (rng.normal(size=3) * ([0.0, 0.0, 1.0] if upright else 1.0))
    return cloud[height <= np.quantile(height, 1.0 - rng.uniform(0.05, MISSING))]


def measure(name: str, seed: int, symmetric: bool, true_pose: bool, threads: int) -> Case:
    partial = seed % 2 == 1
    family = (SYMMETRIC if symmetric else ASYMMETRIC)[name]
    # A mug whose handle one of the scans lacks is ambiguous.
    source, target, pose = scans(family, seed, partial, upright=name in SMALL_KEYS)
    if true_pose:
        size = choose_voxel_size(source, target)
        few = [voxel_downsample(cloud, size) for cloud in (source, target)]
        began = time.perf_counter()
        found = ambiguity(*few, pose, size, threads=threads)
    else:
        began = time.perf_counter()
        found = tear3d.register_clouds(source, target, certify=False, threads=threads).ambiguity
    spent = time.perf_counter() - began
    return Case(name, seed, symmetric, partial, found is not None, found.sentence if found else "", spent)


def main(
    count: Annotated[int, typer.Option(min=1, help="Shapes of each kind.")] = 200,
    first: Annotated[int, typer.Option(min=0, help="Seed of the first.")] = 0,
    true_pose: Annotated[bool, typer.Option("--true-pose", help="Do not register: start from the true pose.")] = False,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    out: Annotated[Path, typer.Option(help="Folder for ambiguity.json.")] = OUT,
) -> None:
    """How often symmetric shapes are called ambiguous, and others falsely."""
    cases: list[Case] = []
    for symmetric, families in ((True, SYMMETRIC), (False, ASYMMETRIC)):
        names = list(families)
        for k in range(count):
            with console.status(f"{'symmetric' if symmetric else 'asymmetric'} shape {k + 1} of {count} …"):
                cases.append(measure(names[k % len(names)], first + k, symmetric, true_pose, threads))
            if not cases[-1].right:
                told = cases[-1].sentence or "not called ambiguous"
                console.print(f"wrong: {cases[-1].family}, seed {cases[-1].seed}: {told}")
    show_families(cases)
    for symmetric, bar in ((True, "at least 99 %"), (False, "at most 1 %")):
        chosen = [case for case in cases if case.symmetric == symmetric]
        flagged = sum(case.flagged for case in chosen)
        kind = "symmetric" if symmetric else "asymmetric"
        console.print(f"{kind}: {flagged} of {len(chosen)} called ambiguous (wanted: {bar})")
    write_json(
        out / "ambiguity.json",
        {"settings": {"count": count, "first": first, "true_pose": true_pose, "noise": NOISE, "missing": MISSING},
         "cases": [asdict(case) for case in cases]},
    )  # fmt: skip


def show_families(cases: list[Case]) -> None:
    of = Counter((case.family, case.symmetric) for case in cases)
    flagged = Counter((case.family, case.symmetric) for case in cases if case.flagged)
    rows = [
        [name, "yes" if symmetric else "no", f"{flagged[name, symmetric]}/{total}",
         seconds(statistics.median(c.seconds for c in cases if (c.family, c.symmetric) == (name, symmetric)))]
        for (name, symmetric), total in of.items()
    ]  # fmt: skip
    show("Called ambiguous", ["family", "symmetric", "ambiguous", "median time"], rows, words=2)


if __name__ == "__main__":
    typer.run(main)
