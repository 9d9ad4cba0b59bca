"""A cloud with everything, and a pose to move it by."""

from __future__ import annotations

import json
import struct

import numpy as np

from tear3d import Cloud

QUARTER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
POSE = np.eye(4)
POSE[:3, :3], POSE[:3, 3] = QUARTER, [1, 2, 3]
PTX = (
    "2\n3\n1 2 3\n1 0 0\n0 1 0\n0 0 1\n0 1 0 0\n-1 0 0 0\n0 0 1 0\n10 20 30 1\n"
    "0 0 0 0.5 0 0 0\n1 0 0 0.25 255 0 1\n0 1 0 1 2 3 4\n0 0 1 0 5 6 7\n2 0 0 0 1 1 1\n3 0 0 0 1 1 1\n"
)
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "<u2")


def _glb() -> bytes:
    """The same tetrahedron as glTF: two views of one buffer."""
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}]
    corners = {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0] * 3, "max": [1] * 3}
    faces = {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}
    text = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [corners, faces],
        "bufferViews": views,
        "buffers": [{"byteLength": 72}],
    }
    head = json.dumps(text).encode()
    head += b" " * (-len(head) % 4)
    data = CORNERS.tobytes() + FACES.tobytes()
    chunks = struct.pack("<I4s", len(head), b"JSON") + head + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _stl() -> bytes:
    rows = b"".join(bytes(12) + CORNERS[face].tobytes() + bytes(2) for face in FACES)
    return bytes(80) + struct.pack("<I", len(FACES)) + rows


_OFF = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS) + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)
MESHES = {".stl": _stl(), ".off": f"OFF\n4 4 6\n{_OFF}".encode(), ".glb": _glb()}


def rich_cloud(count: int) -> Cloud:
    rng = np.random.default_rng(count)
    normals = rng.normal(size=(count, 3))
    return Cloud(
        rng.normal(size=(count, 3)) * 10,
        {
            "colors": rng.integers(2, 256, (count, 3), dtype=np.uint8),
            "normals": (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32),
            "intensity": rng.random(count).astype(np.float32),
            "time": rng.random(count) * 1e9,
            "classification": rng.integers(0, 30, count, dtype=np.uint8),
            "ring": rng.integers(0, 64, count, dtype=np.uint16),
            "depth": rng.integers(-100, 100, count, dtype=np.int32),
        },
        viewpoint=np.array([1.0, 0, 0, 1, 0, 0, 0]),
    )
