"""Register every two of some scans, several at a time.

    python examples/many.py                 four made-up scans of a bumpy ball
    python examples/many.py FOLDER          your scans

Prints a table of which scans go together, and writes the poses of those that do to `edges.txt`: two
numbers of scans, then the upper three rows of the pose that moves the second onto the first.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

import numpy as np

import tear3d
from tear3d.io import read_cloud, write_cloud
from tear3d.io.clouds import MODULES


def make_scans(folder: Path, count: int = 4, points: int = 4000) -> None:
    """Views of a ball with bumps from around it, each turned its own way; the last is of nothing."""
    rng = np.random.default_rng(0)
    bumps = rng.normal(size=(24, 3))
    bumps /= np.linalg.norm(bumps, axis=1, keepdims=True)
    heights = rng.uniform(-0.35, 0.5, len(bumps))
    for k in range(count):
        directions = rng.normal(size=(points, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        ball = directions * (1.0 + np.exp(20.0 * (directions @ bumps.T - 1.0)) @ heights)[:, None]
        seen = ball[ball @ [np.cos(0.4 * k), np.sin(0.4 * k), 0.0] > -0.5]
        if k == count - 1:
            seen = rng.normal(size=seen.shape)
        write_cloud(folder / f"scan{k}.ply", seen @ tear3d.synthetic.random_rotation(rng).T)


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        if not arguments:
            make_scans(Path(made))
        folder = Path(arguments[0] if arguments else made)
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in MODULES)
        if len(paths) < 2:
            sys.exit(f"{folder} has {len(paths)} scans: expected at least two")
        scans = [read_cloud(path) for path in paths]
    every = list(itertools.combinations(range(len(scans)), 2))
    problems = ({"source": scans[j], "target": scans[i], "certify": False} for i, j in every)
    edges = []
    for (i, j), outcome in zip(every, tear3d.register_many(problems, function=tear3d.register_clouds), strict=True):
        names = f"{paths[j].stem} onto {paths[i].stem}"
        if outcome.error is not None:
            print(f"{names}: {outcome.error}")
            continue
        print(f"{names}: {outcome.result.verdict}, {outcome.seconds:.1f} s")
        if outcome.success:
            edges.append([i, j, *outcome.result.transformation[:3].ravel()])
    np.savetxt("edges.txt", edges, fmt=["%d", "%d", *["%.17g"] * 12])
    print(f"wrote edges.txt ({len(edges)} of {len(every)} pairs)")


if __name__ == "__main__":
    main(sys.argv[1:])
