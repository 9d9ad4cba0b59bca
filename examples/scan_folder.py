"""Chain a folder of overlapping scans into one map.

    python examples/scan_folder.py               five made-up scans of a hilly ground
    python examples/scan_folder.py FOLDER        your scans, in the order of their names

Every scan is registered to the one before it. Writes `map.ply` and one KITTI line per scan in `poses.txt`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import tear3d
from tear3d.features.voxel import choose_voxel_size, voxel_downsample
from tear3d.io import read_cloud, write_cloud
from tear3d.io.clouds import MODULES


def make_scans(folder: Path, count: int = 5, points: int = 12_000) -> None:
    """Circles of ground along a path, each in the coordinates of its own scanner."""
    rng = np.random.default_rng(0)
    hills = rng.uniform((-4, -5), (4 + 2 * count, 5), (40 + 12 * count, 2))
    heights, widths = rng.uniform(-1.0, 1.6, len(hills)), rng.uniform(0.3, 0.9, len(hills))
    for k in range(count):
        angle, radius = rng.uniform(0, 2 * np.pi, points), 4.0 * np.sqrt(rng.random(points))
        ground = np.column_stack((2.0 * k + radius * np.cos(angle), radius * np.sin(angle)))
        away = np.linalg.norm(ground[:, None] - hills, axis=2)
        height = np.exp(-((away / widths) ** 2)) @ heights
        scan = np.column_stack((ground, height)) - [2.0 * k, 0.0, 2.0]
        turn = 0.7 * k
        heading = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        write_cloud(folder / f"scan{k:03d}.ply", scan @ heading + rng.normal(0.0, 0.005, scan.shape))


def chain(paths: list[Path]) -> tuple[list[np.ndarray], np.ndarray]:
    """The pose of every scan in the frame of the first, and all points in that frame."""
    previous = read_cloud(paths[0])
    voxel_size = choose_voxel_size(previous, previous)
    poses, parts = [np.eye(4)], [previous]
    for path in paths[1:]:
        scan = read_cloud(path)
        found = tear3d.register_clouds(scan, previous, voxel_size=voxel_size, certify=False)
        agree = f"{found.result.num_inliers} of {len(found.pairs)} matches agree"
        print(f"{path.name}: {found.verdict}, {agree}")
        if not found.success:
            sys.exit(f"{path.name} cannot be told to overlap the scan before it: the chain is broken")
        poses.append(poses[-1] @ found.transformation)
        parts.append(scan @ poses[-1][:3, :3].T + poses[-1][:3, 3])
        previous = scan
    return poses, voxel_downsample(np.concatenate(parts), 0.5 * voxel_size)


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        if not arguments:
            make_scans(Path(made))
        folder = Path(arguments[0] if arguments else made)
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in MODULES)
        if len(paths) < 2:
            sys.exit(f"{folder} has {len(paths)} scans: expected at least two")
        poses, points = chain(paths)
    np.savetxt("poses.txt", [pose[:3].ravel() for pose in poses], fmt="%.17g")
    write_cloud("map.ply", points)
    print(f"wrote map.ply ({len(points)} points) and poses.txt ({len(poses)} poses)")


if __name__ == "__main__":
    main(sys.argv[1:])
