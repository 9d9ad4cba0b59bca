"""Scans of known places: those of a folder of real data, and which of them belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import real_pairs
from tear3d.io.clouds import read_cloud

FloatArray = NDArray[np.float64]

FEWEST = 1500
"""Points: matched keypoints alone are no scan."""
SHOWN = 0.2
"""Two scans of a place belong together if they share so much of each other."""
# Scans whose place is not known beyond the data set, and other names of the same thing.
SOMEWHERE = {"kitti_far": "kitti", "kitti_turboreg": "kitti", "3dmatch_mac": "3dmatch", "3dmatch_toolbox": "3dmatch"}
SAME = {"simpleicp_bunny": "stanford_bunny"}
_KINDS = {"street": ("kitti", "lidar", "oxford", "libpointmatcher_car", "cupcl", "gcnet"), "object": ("stanford",)}


@dataclass(frozen=True, eq=False)
class Scan:
    """A cloud and what it shows."""

    name: str
    points: FloatArray

    @property
    def place(self) -> str:
        """The first words of its name, numbers aside."""
        words = re.sub(r"_(fpfh|iss|top\d|source|target)\b", "", self.name).split("_")
        place = "_".join(word for word in words[:2] if not word.isdigit())
        return SAME.get(place, place)

    @property
    def kind(self) -> str:
        return next((kind for kind, starts in _KINDS.items() if self.place.startswith(starts)), "room")

    def elsewhere(self, other: Scan) -> bool:
        """Whether the two surely show different things."""
        for one, two in ((self.place, other.place), (other.place, self.place)):
            family = next((name for start, name in SOMEWHERE.items() if one.startswith(start)), None)
            if family is not None and two.startswith(family):
                return False
        return self.place != other.place


@dataclass(frozen=True, eq=False)
class Together:
    """Two scans of a place and the pose between them."""

    source: Scan
    target: Scan
    truth: FloatArray


def read(folder: Path) -> tuple[list[Scan], list[Together]]:
    """All distinct scans of a folder (`clouds/*` and `pairs/*.npz`) and those that belong together."""
    together = [_cloud_pair(inner) for inner in sorted((folder / "clouds").glob("*")) if inner.is_dir()]
    scans = [scan for pair in together for scan in (pair.source, pair.target)]
    matched = [real_pairs.read(path) for path in sorted((folder / "pairs").glob("*.npz"))]
    known: dict[bytes, Scan] = {}
    for pair in matched:
        points = np.unique(pair.source, axis=0)
        if len(points) >= FEWEST:
            known.setdefault(points.tobytes(), Scan(pair.name, points))
    links = list(_links(matched, known))
    return scans + list(known.values()), together + list(_chains(links))


def _cloud_pair(folder: Path) -> Together:
    source, target = (
        Scan(f"{folder.name}_{side}", np.asarray(read_cloud(next(folder.glob(f"{side}.*"))), dtype=np.float64))
        for side in ("source", "target")
    )
    return Together(source, target, np.loadtxt(folder / "T_target_source.txt"))


def _links(matched: list[real_pairs.RealPair], known: dict[bytes, Scan]) -> Iterator[Together]:
    """Pairs whose matched target points are points of another scan."""
    rows = {key: set(map(bytes, scan.points)) for key, scan in known.items()}
    for pair in matched:
        own = np.unique(pair.source, axis=0).tobytes()
        hits = list(map(bytes, np.unique(pair.target, axis=0)))
        for key, points in rows.items():
            if own in known and key != own and sum(hit in points for hit in hits) > 0.95 * len(hits):
                yield Together(known[own], known[key], pair.truth)


def _chains(links: list[Together]) -> Iterator[Together]:
    """Every two scans that are linked, directly or by way of others, and overlap."""
    edges: dict[Scan, list[tuple[Scan, FloatArray]]] = {}
    for link in links:
        edges.setdefault(link.source, []).append((link.target, link.truth))
        edges.setdefault(link.target, []).append((link.source, np.linalg.inv(link.truth)))
    order = list(edges)
    for k, first in enumerate(order):
        poses, reached = {first: np.eye(4)}, [first]
        for scan in reached:
            for other, pose in edges[scan]:
                if other not in poses:
                    poses[other] = pose @ poses[scan]
                    reached.append(other)
        for other in order[k + 1 :]:
            if other in poses:
                chained = Together(first, other, poses[other])
                if _shared(chained) >= SHOWN:
                    yield chained


def _shared(pair: Together) -> float:
    from scipy.spatial import cKDTree

    moved = pair.source.points @ pair.truth[:3, :3].T + pair.truth[:3, 3]
    spacing = 2.0 * np.median(cKDTree(pair.target.points).query(pair.target.points, k=2)[0][:, 1])
    shares = [
        np.mean(cKDTree(b).query(a)[0] <= spacing)
        for a, b in ((moved, pair.target.points), (pair.target.points, moved))
    ]
    return float(min(shares))
