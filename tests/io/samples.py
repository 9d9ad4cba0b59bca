"""A small valid file of every kind that is read, with its reader and what its reader may return."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tear3d.cli.truth import read_truth
from tear3d.errors import MissingExtraError
from tear3d.io import Cloud, read_cloud, read_pose, write_pose
from tear3d.io.clouds import WRITERS
from tear3d.io.pairs import read_pairs, write_pairs
from tests.io import test_formats as formats
from tests.io.clouds import MESHES, PTX, rich_cloud

POINTS = np.random.default_rng(5).normal(size=(20, 3))


@dataclass(frozen=True)
class Sample:
    """The file is what `pack` makes of `data`, which is what is mutated."""

    name: str
    suffix: str
    data: bytes
    read: Callable[[Path], Any]
    valid: Callable[[Any], bool]
    pack: Callable[[bytes], bytes] = bytes

    def write(self, path: Path, data: bytes) -> None:
        path.write_bytes(self.pack(data))


def make_samples() -> list[Sample]:
    """Samples of every format whose package is installed, always in the same order."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_clouds(Path(folder)), *_pairs(Path(folder)), *_poses(Path(folder)), *_members(Path(folder))]


def _clouds(folder: Path) -> Iterator[Sample]:
    for kind in formats.KINDS:
        try:
            path = formats.make(folder, kind, POINTS)
        except pytest.skip.Exception:
            continue
        yield Sample(kind, path.suffix, path.read_bytes(), read_cloud, _is_cloud)
        yield Sample(f"whole_{kind}", path.suffix, path.read_bytes(), Cloud.read, _is_whole)
        if kind == "e57":
            yield Sample("e57_pages", path.suffix, path.read_bytes(), read_cloud, _is_cloud, _with_checksums)
    text = b"ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int v\nelement vertex 2\nproperty int x\n"
    text += b"property list uchar int w\nproperty char y\nproperty float z\nend_header\n"
    yield Sample("ply_lists_ascii", ".ply", text + b"3 0 1 2\n1 2 0 0 2 3\n4 0 5 6\n", read_cloud, _is_cloud)
    data = text.replace(b"ascii", b"binary_big_endian") + b"\1\0\0\0\0" + 2 * (b"\0\0\0\1\1" + bytes(9))
    yield Sample("ply_lists_binary", ".ply", data, read_cloud, _is_cloud)
    yield Sample("whole_ply_lists_binary", ".ply", data, Cloud.read, _is_whole)
    yield Sample("ptx", ".ptx", PTX.encode(), Cloud.read, _is_whole)
    if find_spec("trimesh") is not None:
        for suffix, mesh in MESHES.items():
            yield Sample(f"mesh{suffix.replace('.', '_')}", suffix, mesh, Cloud.read, _is_whole)
    for suffix in WRITERS:
        try:
            path = rich_cloud(8).write(folder / f"rich{suffix}")
            Cloud.read(path)
        except MissingExtraError:
            continue
        yield Sample(f"rich{suffix.replace('.', '_')}", suffix, path.read_bytes(), Cloud.read, _is_whole)


def _pairs(folder: Path) -> Iterator[Sample]:
    for suffix in (".npz", ".npy", ".csv", ".txt"):
        path = folder / f"pairs{suffix}"
        extra: dict[str, Any] = {"noise_bound": 0.1, "weights": np.ones(20)} if suffix == ".npz" else {}
        write_pairs(path, POINTS, POINTS + 1, **extra)
        yield Sample(f"pairs_{suffix[1:]}", suffix, path.read_bytes(), read_pairs, _is_pairs)
    path = folder / "packed.npz"
    mask = np.ones(20, dtype=bool)
    np.savez_compressed(path, source=POINTS, target=POINTS, xi=0.1, transformation=np.eye(4), inlier_mask=mask)
    yield Sample("pairs_packed", ".npz", path.read_bytes(), read_pairs, _is_pairs)
    yield Sample("truth", ".npz", path.read_bytes(), _read_truth, lambda truth: True)


def _poses(folder: Path) -> Iterator[Sample]:
    for style, suffix in (("matrix", ".txt"), ("kitti", ".txt"), ("tum", ".txt"), ("matrix", ".npz")):
        path = folder / f"pose{suffix}"
        write_pose(path, np.eye(4), style)  # type: ignore[arg-type]
        yield Sample(f"pose_{style}_{suffix[1:]}", suffix, path.read_bytes(), read_pose, _is_pose)


def _members(folder: Path) -> Iterator[Sample]:
    """Mutated before they are packed, so that the archive itself stays sound."""
    np.save(folder / "a.npy", POINTS)
    data = (folder / "a.npy").read_bytes()
    yield Sample("npz_member", ".npz", data, read_cloud, _is_cloud, _archive("points"))
    yield Sample("pairs_member", ".npz", data, read_pairs, _is_pairs, _archive("source"))
    np.save(folder / "a.npy", np.eye(4))
    data = (folder / "a.npy").read_bytes()
    yield Sample("pose_member", ".npz", data, read_pose, _is_pose, _archive("transformation"))
    yield Sample("truth_member", ".npz", data, _read_truth, lambda truth: True, _archive("transformation"))


def _archive(name: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}.npy", data)
            if name == "source":
                with archive.open("target.npy", "w") as handle:
                    np.save(handle, POINTS)
        return buffer.getvalue()

    return pack


def _with_checksums(data: bytes) -> bytes:
    """An E57 file whose pages of 1024 bytes end in the right CRC-32C."""
    pages = [data[start : start + 1020] for start in range(0, len(data), 1024)]
    return b"".join(page + _crc32c(page).to_bytes(4, "big") for page in pages)


def _crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC[(value ^ byte) & 255] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _crc_entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


CRC = [_crc_entry(byte) for byte in range(256)]


def _read_truth(path: Path) -> Any:
    return read_truth(path, 20)


def _is_cloud(points: Any) -> bool:
    shape_fits = points.ndim == 2 and points.shape[1] == 3 and len(points) > 0
    return shape_fits and points.dtype == np.float64 and bool(np.isfinite(points).all())


def _is_whole(cloud: Any) -> bool:
    fits = all(len(values) == len(cloud) and values.ndim in (1, 2) for values in cloud.attributes.values())
    return fits and _is_cloud(cloud.points)


def _is_pairs(pairs: Any) -> bool:
    arrays = [pairs.source, pairs.target]
    if any(a.ndim != 2 or a.shape[1] != 3 or a.dtype.kind not in "fiu" for a in arrays):
        return False
    with np.errstate(all="ignore"):
        totals = [np.sum(a, dtype=np.float64) for a in arrays]  # touches every byte of a mapped file
    return len(arrays[0]) == len(arrays[1]) and len(totals) == 2


def _is_pose(pose: Any) -> bool:
    return pose.shape == (4, 4) and pose.dtype == np.float64 and bool(np.isfinite(pose).all())
