"""A map of overlapping scans: poses, a merged cloud, a pose graph and a page to look at.

    python examples/map.py               six made-up scans around a loop over hilly ground
    python examples/map.py FOLDER        your scans, in the order of their names

Writes `map.ply`, `trajectory.tum`, `graph.g2o` and `map.html`. The same from the shell: `tear3d map FOLDER --out map`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import tear3d
from tear3d.io import write_cloud
from tear3d.mapping.files import write_coloured, write_g2o, write_trajectory
from tear3d.report.map import write_map_page


def make_scans(folder: Path, count: int = 6, points: int = 8_000) -> None:
    """Circles of ground around a loop, each in the coordinates of its own scanner."""
    rng = np.random.default_rng(0)
    hills = rng.uniform(-7.0, 7.0, (150, 2))
    heights, widths = rng.uniform(-1.0, 1.6, len(hills)), rng.uniform(0.3, 0.9, len(hills))
    for k in range(count):
        turn = 2.0 * np.pi * k / count
        place = 2.0 * np.array([np.cos(turn), np.sin(turn)])
        angle, radius = rng.uniform(0, 2 * np.pi, points), 4.0 * np.sqrt(rng.random(points))
        ground = place + np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
        away = np.linalg.norm(ground[:, None] - hills, axis=2)
        height = np.exp(-((away / widths) ** 2)) @ heights
        scan = np.column_stack((ground - place, height - 2.0))
        heading = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        write_cloud(folder / f"scan{k}.ply", scan @ heading + rng.normal(0.0, 0.005, scan.shape))


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        if not arguments:
            make_scans(Path(made))
        found = tear3d.build_map(arguments[0] if arguments else made, progress=show)
        print(found)
        cloud = found.merged()
    write_coloured("map.ply", cloud)
    write_trajectory("trajectory.tum", found)
    write_g2o("graph.g2o", found)
    write_map_page("map.html", found, cloud=cloud, title="A map of scans")
    print(f"wrote map.ply ({len(cloud.points)} points), trajectory.tum, graph.g2o and map.html")
    if not found.success:
        sys.exit("not all scans could be placed, or an edge was dropped that may be right")


def show(report: tear3d.MapProgress) -> None:
    """One line for each pair that was tried."""
    if report.text:
        print(f"{report.stage}: {report.text}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
