"""Find scans in a map that is many times as large; what is computed of the map is kept for the next scan.

    python examples/relocalise.py                        scans of a made-up town, one of them taken elsewhere
    python examples/relocalise.py map.ply a.ply b.ply    your files

Writes the pose of every scan that is confirmed, map ← scan, next to it as NAME.pose.txt.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import tear3d
from tear3d.io import read_cloud, write_cloud, write_pose
from tear3d.lab.town import Town, scan
from tear3d.synthetic import random_rotation


def make_files() -> list[Path]:
    """A map, two scans taken in it, in coordinates of their own, and one of another town."""
    town, other = Town(90.0, seed=1), Town(90.0, seed=2)
    write_cloud("map.ply", town.sample(8.0))
    names = [Path("map.ply")]
    for k, place in enumerate((town, town, other)):
        seen = scan(place.sample(16.0, seed=1), place.eye(k, margin=8.0), reach=8.0, noise=0.02, seed=k)
        names.append(Path(f"scan{k}.ply"))
        write_cloud(names[-1], seen @ random_rotation(np.random.default_rng(k)).T)
    return names


def main(arguments: list[str]) -> None:
    paths = [Path(name) for name in arguments] or make_files()
    if len(paths) < 2:
        sys.exit("expected a map and at least one scan")
    town = tear3d.prepare(read_cloud(paths[0]))
    for path in paths[1:]:
        began = time.perf_counter()
        found = tear3d.register_clouds(read_cloud(path), town, certify=False)
        print(f"{path}: {found.verdict} after {time.perf_counter() - began:.1f} s: {'; '.join(found.reasons)}")
        if found.success:
            write_pose(path.with_suffix(".pose.txt"), found.transformation)
    print(town)


if __name__ == "__main__":
    main(sys.argv[1:])
