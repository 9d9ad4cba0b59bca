"""Is a machine part found in a scan of it on a table, is the verdict right, and is the pose as exact as it says?

For 48 made-up scenes (eight parts, with and without a table, other things on it, from one to three places): the root
mean square distance of the model's points from where they belong, what the covariance says of it, and the same of a
refinement that starts from the truth. Some minutes on two cores::

    python -m benchmarks.parts
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import typer
from scipy.spatial.transform import Rotation

from tear3d.clouds.refine import refine_icp
from tear3d.clouds.register import register_clouds
from tear3d.lab.bench import Bench, make_bench
from tear3d.lab.parts import PARTS
from tear3d.problem.arrays import FloatArray

SCENES: tuple[dict[str, Any], ...] = (
    {"table": 150.0, "spacing": 0.7, "noise": 0.15},
    {"table": 200.0, "spacing": 0.7, "noise": 0.1, "views": 3},
    {"table": 200.0, "spacing": 0.7, "noise": 0.3, "clutter": 4},
    {"table": 0.0, "spacing": 0.7, "views": 1},
    {"table": 250.0, "spacing": 1.2, "noise": 0.3, "views": 3, "points": 20_000},
    {"table": 160.0, "spacing": 0.5, "views": 1},
)


def error(part: str, pose: FloatArray, bench: Bench) -> float:
    """Of the right poses the nearest: two of the bracket without a hole, any turn of the shaft without a flat."""
    right = [bench.transformation]
    symmetry = np.eye(4)
    if part == "plain bracket":
        symmetry[:3] = [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 40.0]]
    if part == "plain shaft":
        turn = bench.transformation[:3, :3].T @ pose[:3, :3]
        angle = np.arctan2(turn[2, 1] - turn[1, 2], turn[1, 1] + turn[2, 2])
        symmetry[:3, :3] = Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix()
    right.append(bench.transformation @ symmetry)
    return min(_distance(pose - other, bench.model) for other in right)


def _distance(change: FloatArray, points: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.sum((points @ change[:3, :3].T + change[:3, 3]) ** 2, axis=1))))


def stated(covariance: FloatArray, points: FloatArray) -> float:
    """The root mean square distance of the points that a covariance lets expect."""
    x, y, z = points[::50].T
    slopes = np.zeros((len(x), 3, 6))
    slopes[:, 0, 1], slopes[:, 0, 2], slopes[:, 1, 2] = z, -y, x
    slopes[:, 1, 0], slopes[:, 2, 0], slopes[:, 2, 1] = -z, y, -x
    slopes[:, [0, 1, 2], [3, 4, 5]] = 1.0
    return float(np.sqrt(np.einsum("pij,jk,pik->p", slopes, covariance, slopes).mean()))


def main() -> None:
    for number, part in enumerate(PARTS):
        for kind, options in enumerate(SCENES):
            bench = make_bench(part, seed=100 + 10 * number + kind, **options)
            began = time.perf_counter()
            found = register_clouds(bench.model, bench.scan, certify=False)
            seconds = time.perf_counter() - began
            held = refine_icp(bench.model, bench.scan, bench.transformation)
            shown = []
            for each in (found, held):
                off, said = error(part, each.transformation, bench), stated(each.covariance, bench.model)
                shown.append(f"{off:7.3f} mm off, {said:6.3f} stated")
            print(f"{part:14s} {kind} {found.verdict:10s} {shown[0]}, {seconds:4.1f} s; from the truth {shown[1]}")


if __name__ == "__main__":
    typer.run(main)
