"""How often pairs that mean nothing are called significant, and how often right poses are.

`python -m benchmarks.chance --data DIR`: made-up problems without a true pose; matches between real scans of different
places, brought to one size and described at several resolutions, and between scans and their mirror images; and the
real pairs themselves. "Hard" are the kinds that are known to go wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import tear3d
from benchmarks import nothing, real_pairs, scans
from benchmarks.output import console, show
from benchmarks.scans import FloatArray
from tear3d.clouds.describe import Description
from tear3d.errors import InputError
from tear3d.features.matching import match
from tear3d.features.voxel import occupied_voxels, voxel_downsample
from tear3d.synthetic import random_rotation

LIMITS = (-1.0, -2.0, -3.0, -4.0)
COLUMNS = ("problems", "count", *(f"below {limit:.0f}" for limit in LIMITS), "lowest", "ambiguous")
_COUNTS = (1000, 2500, 5000)
_BOUNDS = (1.0, 1.5, 1.5, 2.5)


def unrelated(every: list[scans.Scan], count: int) -> Iterator[nothing.Problem]:
    """FPFH matches between scans of different places."""
    rng = np.random.default_rng(7)
    made = 0
    while made < count:
        a, b = rng.choice(len(every), 2, replace=False)
        if every[a].elsewhere(every[b]):
            for problem in _matched([_unit(every[k].points) for k in (a, b)], rng):
                made += 1
                yield problem


def mirrored(every: list[scans.Scan], count: int) -> Iterator[nothing.Problem]:
    """FPFH matches between scans and their mirror images."""
    rng = np.random.default_rng(8)
    for k in np.arange(count) % len(every):
        cloud = _unit(every[k].points)
        yield from _matched([cloud, (cloud * [-1.0, 1.0, 1.0]) @ random_rotation(rng).T], rng)


def _matched(clouds: list[FloatArray], rng: np.random.Generator) -> Iterator[nothing.Problem]:
    """Matches as various as users make them; none of clouds with too few points."""
    size = max(_voxel(cloud, int(rng.choice(_COUNTS))) for cloud in clouds)
    keypoints = "iss" if rng.uniform() < 0.15 else None
    described = []
    for cloud in clouds:
        thin = voxel_downsample(cloud, size)
        rows, features = Description(keypoints=keypoints).of(thin, size, lambda done: None)
        described.append((thin[rows], features))
    (source, one), (target, other) = described
    if min(len(source), len(target)) >= 20:
        found = match(one, other, top_k=int(rng.choice([1, 1, 1, 3])), mutual=bool(rng.uniform() < 0.2))
        yield source[found[:, 0]], target[found[:, 1]], float(rng.choice(_BOUNDS)) * size


def _unit(points: FloatArray) -> FloatArray:
    centred = points - np.median(points, axis=0)
    return np.asarray(centred / np.median(np.linalg.norm(centred, axis=1)))


def _voxel(cloud: FloatArray, wanted: int) -> float:
    low, high = 0.005, 1.0
    while high / low > 1.05:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if occupied_voxels(cloud, middle) > wanted else (low, middle)
    return high


def measure(title: str, problems: Iterator[nothing.Problem]) -> list[str]:
    """A row of the table."""
    levels, ambiguous = [], 0
    for source, target, bound in problems:
        try:
            result = tear3d.register(source, target, noise_bound=bound, certify=False)
        except InputError:
            continue
        levels.append(result.significance)
        ambiguous += result.ambiguous
    return _row(title, levels, ambiguous)


def _row(title: str, levels: list[float], ambiguous: int) -> list[str]:
    shares = [f"{100.0 * np.mean(np.array(levels) < limit):.1f} %" for limit in LIMITS]
    return [title, str(len(levels)), *shares, f"{min(levels):.1f}", str(ambiguous)]


def right_poses(folder: Path) -> Iterator[list[str]]:
    """Rows of the poses that are right, and of those that are not."""
    levels: dict[bool, list[float]] = {True: [], False: []}
    flagged = {True: 0, False: 0}
    for path in sorted((folder / "pairs").glob("*.npz")):
        pair = real_pairs.read(path)
        result = tear3d.register(pair.source, pair.target, noise_bound=pair.noise_bound, certify=False)
        right = pair.right(result.transformation)
        levels[right].append(result.significance)
        flagged[right] += result.ambiguous
        if right == (not result.success):
            console.print(f"{path.stem}: {'right' if right else 'wrong'}, significance {result.significance:.1f}")
    for right, title in ((True, "real pairs, right"), (False, "real pairs, wrong")):
        if levels[right]:
            yield _row(title, levels[right], flagged[right])


def main(
    data: Annotated[
        Path | None, typer.Option(help="Folder with clouds/ and pairs/; made-up problems alone without.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Problems of a kind.")] = 200,
) -> None:
    """Significance where there is nothing, and where there is something."""
    rows = [measure(f"made up: {kind}", nothing.problems(kind, count)) for kind in nothing.KINDS]
    rows += [measure(f"hard: {kind}", nothing.problems(kind, count)) for kind in nothing.HARD]
    if data is not None:
        every = scans.read(data)[0]
        rows.append(measure("scans of different places", unrelated(every, count)))
        rows.append(measure("hard: mirrored scans", mirrored(every, count)))
        rows += right_poses(data)
    show("Significance", COLUMNS, rows)


if __name__ == "__main__":
    typer.run(main)
