"""A map as files that other tools read: trajectories, a pose graph, a coloured cloud."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.io.g2o import g2o_edge
from tear3d.mapping.merge import Merged
from tear3d.mapping.result import Map, MapEdge
from tear3d.problem.arrays import FloatArray

TrajectoryStyle = Literal["tum", "kitti"]


def write_trajectory(path: str | os.PathLike[str], found: Map, style: TrajectoryStyle = "tum") -> None:
    """The poses of the scans, map ← scan, in full precision, all or nothing.

    Parameters
    ----------
    path
        The file.
    found : Map
    style : {"tum", "kitti"}
        `tum`: a line `number tx ty tz qx qy qz qw` for each scan in the map; the number of the scan, from 0, stands for
        the time, which is not known. `kitti`: a line of twelve numbers, the first three rows of the pose, for every
        scan; those that are not in the map have a line of `nan`.
    """
    if style not in ("tum", "kitti"):
        raise InputError(f"style is {style!r}: expected 'tum' or 'kitti'")
    lines = _tum(found) if style == "tum" else _kitti(found)
    _write(path, lines)


def write_g2o(path: str | os.PathLike[str], found: Map) -> None:
    """The pose graph in g2o's text format: a vertex for each scan in the map, and every kept edge with its information.

    The first scan is fixed. The information is the inverse of the covariance that the graph used (`MapEdge.weighed`).
    Dropped edges, and those between scans that are not in the map, follow as comments.
    """
    _write(path, _g2o(found))


def write_coloured(path: str | os.PathLike[str], cloud: Merged) -> None:
    """A merged cloud as binary PLY: x, y, z as double, red, green, blue as uchar."""
    rows = np.empty(len(cloud.points), [("points", "<f8", 3), ("colours", "u1", 3)])
    rows["points"], rows["colours"] = cloud.points, cloud.colours
    properties = [f"property double {axis}" for axis in "xyz"]
    properties += [f"property uchar {name}" for name in ("red", "green", "blue")]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(rows)}", *properties, "end_header"]
    with atomic_write(path) as file:
        file.write(("\n".join(header) + "\n").encode())
        file.write(rows.tobytes())


def _write(path: str | os.PathLike[str], lines: Iterator[str]) -> None:
    with atomic_write(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def _numbers(values: FloatArray | list[float]) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _quaternion(pose: FloatArray) -> list[float]:
    return [*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat(canonical=True)]


def _tum(found: Map) -> Iterator[str]:
    yield "# scan tx ty tz qx qy qz qw"
    for number, pose in enumerate(found.poses):
        if pose is not None:
            yield f"{number} {_numbers(_quaternion(pose))}"


def _kitti(found: Map) -> Iterator[str]:
    for pose in found.poses:
        yield _numbers(np.full(12, np.nan) if pose is None else pose[:3].ravel())


def _g2o(found: Map) -> Iterator[str]:
    for number, pose in enumerate(found.poses):
        if pose is not None:
            yield f"VERTEX_SE3:QUAT {number} {_numbers(_quaternion(pose))}"
    yield f"FIX {found.origin}"
    inside = set(found.components[0])
    others: list[str] = []
    for edge in found.edges:
        if edge.weighed is None or edge.transformation is None:
            continue
        line = g2o_edge(edge.transformation, edge.weighed, edge.target, edge.source)
        if edge.fate == "kept" and edge.source in inside:
            yield line
        else:
            others.append(f"# {_why(edge)}: {line}")
    yield from others


def _why(edge: MapEdge) -> str:
    return "dropped" if edge.fate == "dropped" else "not in the map"
