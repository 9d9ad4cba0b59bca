"""Align two overlapping clouds, without matches and without a start.

    python examples/two_clouds.py                            two partial teapots
    python examples/two_clouds.py source.ply target.pcd      your files

Writes the moved source, the pose and a report into the folder `aligned`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import tear3d
from tear3d.io import read_cloud, write_cloud, write_pose
from tear3d.shapes import teapot
from tear3d.synthetic import random_rotation


def make_clouds(folder: Path) -> tuple[Path, Path]:
    """A teapot without its top, and one without its bottom that was turned and moved."""
    rng = np.random.default_rng(5)
    lower, upper = teapot(20_000, seed=1), teapot(20_000, seed=2)
    lower, upper = lower[lower[:, 2] < 2.3], upper[upper[:, 2] > 0.5]
    moved = upper @ random_rotation(rng).T + rng.normal(size=3)
    for name, points in (("lower.ply", lower), ("upper.ply", moved)):
        write_cloud(folder / name, points + rng.normal(0.0, 0.005, points.shape))
    return folder / "lower.ply", folder / "upper.ply"


def main(arguments: list[str]) -> None:
    folder = Path("aligned")
    folder.mkdir(exist_ok=True)
    first, second = (Path(name) for name in arguments) if arguments else make_clouds(folder)
    source, target = read_cloud(first), read_cloud(second)

    found = tear3d.register_clouds(source, target, certify=False)  # the clouds are asked; a proof may take a minute
    print(found)
    pose = found.transformation
    write_pose(folder / "pose.txt", pose)
    write_cloud(folder / "moved.ply", source @ pose[:3, :3].T + pose[:3, 3])
    tear3d.report.write_report(
        folder / "report.html",
        found.result,
        found.source_matches,
        found.target_matches,
        source_cloud=source,
        target_cloud=target,
        refined=pose,
        about=tear3d.report.About(found),
    )
    print(f"wrote {folder}/pose.txt, moved.ply and report.html")


if __name__ == "__main__":
    main(sys.argv[1:])
