"""Meshes, through trimesh: their surface, sampled evenly."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError, InputError
from tear3d.io.checks import check_declared, check_memory, format_errors, load_package, memory_limit
from tear3d.io.cloud import Cloud, Parts

KIND = "mesh"
SUFFIXES = (".stl", ".obj", ".glb", ".off", ".ply")
SAMPLES = 100_000
BYTES = 200
"""Of memory for a vertex or a face while a mesh is loaded, and for a sample."""
GLB_HEADER = 20


def read(path: Path, limit: int) -> NDArray[Any]:
    return read_all(path, limit).points


def read_all(path: Path, limit: int) -> Parts:
    points, normals = _sampled(path, limit, SAMPLES, 0)
    return Parts(points, {"normals": normals})


def sample_mesh(path: Path, count: int, seed: int, max_bytes: int | None) -> Cloud:
    """Points on the surface of a mesh; see `Cloud.sampled`."""
    if not path.is_file():
        raise InputError(f"{path}: {'is not a regular file' if path.exists() else 'no such file'}")
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: is no mesh; expected {', '.join(SUFFIXES)}")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InputError(f"count is {count!r}; expected a positive whole number")
    with format_errors(path, KIND), np.errstate(all="ignore"):
        points, normals = _sampled(path, memory_limit(path, max_bytes), int(count), seed)
    return Cloud(points, {"normals": normals})


def _sampled(path: Path, limit: int, count: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    trimesh = load_package("trimesh", "mesh", "reading meshes")
    kind = path.suffix.lower()[1:]
    check_memory(path, "its samples", BYTES * count, limit)
    data = path.read_bytes()
    if kind == "glb":
        _check_glb(path, data, limit)
    # From bytes, so that no other file is opened that this one names.
    mesh = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=False)
    faces = np.asarray(getattr(mesh, "faces", ()))
    if faces.ndim != 2 or len(faces) == 0:
        raise FileFormatError(f"{path}: has no faces to sample")
    return _on_triangles(path, np.asarray(mesh.vertices, dtype=np.float64)[faces], count, seed)


def _on_triangles(path: Path, corners: NDArray[Any], count: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and normals: one in each of equal stretches of the surface, triangle after triangle."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(first, second)
    doubled = np.linalg.norm(normals, axis=1)
    doubled = np.where(np.isfinite(doubled), doubled, 0.0)
    ends = np.cumsum(doubled)
    if not (np.isfinite(ends[-1]) and ends[-1] > 0.0):
        raise FileFormatError(f"{path}: its faces have no area to sample")
    rng = np.random.default_rng(seed)
    places = (np.arange(count) + rng.random(count)) / count * ends[-1]
    chosen = np.minimum(np.searchsorted(ends, places, side="right"), np.flatnonzero(doubled)[-1])
    along, across = rng.random((2, count, 1))
    outside = along + across > 1.0
    along, across = np.where(outside, 1.0 - along, along), np.where(outside, 1.0 - across, across)
    points = corners[chosen, 0] + along * first[chosen] + across * second[chosen]
    return points, normals[chosen] / doubled[chosen, None]


def _check_glb(path: Path, data: bytes, limit: int) -> None:
    """Refuse lists that are declared longer than memory: their numbers need not be in the file."""
    check_declared(path, "the GLB header", GLB_HEADER, len(data))
    (length,) = struct.unpack_from("<I", data, 12)
    check_declared(path, "its description", GLB_HEADER + length, len(data))
    accessors = json.loads(data[GLB_HEADER : GLB_HEADER + length]).get("accessors", [])
    check_memory(path, "its lists", BYTES * sum(int(each.get("count", 0)) for each in accessors), limit)
