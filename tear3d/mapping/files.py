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
from tear3d.judge.uncertainty import carried
from tear3d.mapping.merge import Merged
from tear3d.mapping.result import Map, MapEdge
from tear3d.problem.arrays import FloatArray

FAR = 1e3
"""Radii of a scan: from there on six digits of the information would be lost, and all of them at 10⁸. Free choice."""

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

    The first scan is fixed. The information is the inverse of the covariance that the poses rest on
    (`MapEdge.weighed`). Dropped edges, and those between scans that are not in the map, follow as comments.

    Where a scan lies `FAR` from its origin, as in coordinates of a country, the information has no digits left there:
    then the origin of every scan is its middle, that of the map the middle of its first scan, and comments say where
    these are.
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
    graph, inside = found.graph, set(found.components[0])
    far = bool(np.any(np.linalg.norm(graph.centres, axis=1) > FAR * graph.radii))
    origins = graph.centres if far else np.zeros_like(graph.centres)
    for number in sorted(inside) if far else []:
        yield f"# origin of {number}: {_numbers(origins[number])}"
    for number, pose in enumerate(found.poses):
        if pose is not None:
            moved = _between(pose, origins[found.origin], origins[number])
            yield f"VERTEX_SE3:QUAT {number} {_numbers(_quaternion(moved))}"
    yield f"FIX {found.origin}"
    others: list[str] = []
    edges = (edge for edge in found.edges if edge.weighed is not None)
    for edge, own, weighed in zip(edges, graph.edges, found.solution.weighed, strict=True):
        measured = _between(own.transformation, origins[own.i], origins[own.j])
        covariance = weighed if far else carried(weighed, 1.0, graph.centres[own.j])
        line = g2o_edge(measured, covariance, own.i, own.j)
        if edge.fate == "kept" and own.j in inside:
            yield line
        else:
            others.append(f"# {_why(edge)}: {line}")
    yield from others


def _between(pose: FloatArray, target: FloatArray, source: FloatArray) -> FloatArray:
    """A pose between coordinates with these origins."""
    moved = pose.copy()
    moved[:3, 3] += pose[:3, :3] @ source - target
    return moved


def _why(edge: MapEdge) -> str:
    return "dropped" if edge.fate == "dropped" else "not in the map"
