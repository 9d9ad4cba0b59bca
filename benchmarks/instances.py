"""How many motions are found in one set of pairs: scenes with some objects, and real matches that show one motion.

`python -m benchmarks.instances --data DIR`: scenes of 10 000 pairs; and the real pairs in DIR/pairs, with the lowest
significance of a pose that the first motion leaves.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import tear3d
from benchmarks import real_pairs
from benchmarks.output import console, show
from tear3d.instances.accept import accepted, significance_of
from tear3d.instances.peel import peeled
from tear3d.lab.scenes import Scene, make_scene
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs

ASKED = 3
SCENES: dict[str, tuple[int, dict[str, object]]] = {
    "10, 7 and 4 %": (3, {"shares": (0.10, 0.07, 0.04)}),
    "5, 5 and 5 %": (3, {"shares": (0.05, 0.05, 0.05)}),
    "20, 2 and 1 %": (3, {"shares": (0.20, 0.02, 0.01)}),
    "10, 7 and 4 %, compact": (3, {"shares": (0.10, 0.07, 0.04), "sizes": 0.15}),
    "five of 3 %": (3, {"shares": (0.03,) * 5}),
    "one of 10 %": (1, {"shares": (0.10,)}),
    "one of 1 %": (1, {"shares": (0.01,)}),
    "none": (0, {"shares": ()}),
}
"""What a scene has, and how many of three asked for are to be found."""


def right(scene: Scene, expected: int) -> bool:
    """Whether as many as expected are found, each another object, half a noise bound off on average at most."""
    result = tear3d.register(
        scene.source, scene.target, noise_bound=scene.noise_bound, max_instances=ASKED, certify=False
    )
    found = set()
    for one in result.instances:
        for number, truth in enumerate(scene.transformations, 1):
            own, change = scene.source[scene.labels == number], one.transformation - truth
            off = np.linalg.norm(own @ change[:3, :3].T + change[:3, 3], axis=1).mean()
            if off < 0.5 * scene.noise_bound:
                found.add(number)
    return len(result.instances) == len(found) == expected


def left_of(pair: real_pairs.RealPair) -> tuple[int, float]:
    """How many motions are accepted, and the lowest significance after the first."""
    pairs = Pairs.of(pair.source, pair.target, pair.noise_bound)
    options = Options.of(certify=False, max_instances=ASKED)
    motions = peeled(pairs, options, options.limits())
    after = [significance_of(pairs, motions, number) for number in range(1, len(motions))]
    return len(accepted(pairs, motions)), min(after, default=math.inf)


def main(
    data: Annotated[Path | None, typer.Option(help="Folder with pairs/; scenes alone without.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Scenes of a kind.")] = 20,
) -> None:
    rows = []
    for name, (expected, made) in SCENES.items():
        hits = sum(right(make_scene(10_000, seed=1000 + seed, **made), expected) for seed in range(count))  # type: ignore[arg-type]
        rows.append((name, str(expected), f"{hits} of {count}"))
    show(f"Scenes of 10 000 pairs, {ASKED} motions asked for", ("objects", "expected", "right"), rows)
    if data is None:
        return
    found = {}
    for path in real_pairs.files(data / "pairs"):
        pair = real_pairs.read(path)
        found[pair.name] = left_of(pair)
    worst = sorted(found.items(), key=lambda item: item[1][1])[:10]
    show(
        "Real matches of one motion: those whose rest stands out most",
        ("pairs", "motions", "lowest significance after the first"),
        [(name, str(motions), f"{lowest:.1f}") for name, (motions, lowest) in worst],
    )
    console.print(f"{sum(motions > 1 for motions, _ in found.values())} of {len(found)} have a second motion")


if __name__ == "__main__":
    typer.run(main)
