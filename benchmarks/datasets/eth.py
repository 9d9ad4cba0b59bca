"""ETH (Pomerleau et al., IJRR 2012): laser scans outdoors with the poses of a theodolite.

Two forms. As the ASL distributes it: scans `Hokuyo_k.csv` in their own frame (or `PointCloudk.csv`, already in the
global frame) and `pose_scanner_leica.csv` (global ← scan); every scan is paired with the one before it. As 3DSmoothNet
and its followers pack four of its scenes: `Hokuyo_k.ply` and a gt.log of the pairs that overlap by more than 30 %.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.datasets import fragments
from benchmarks.datasets.fragments import Custom
from benchmarks.datasets.matching import clouds_to_pairs
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found
from benchmarks.datasets.rules import RULES
from benchmarks.datasets.trajectory import rigid
from benchmarks.real_pairs import FloatArray
from tear3d.errors import FileFormatError, InputError
from tear3d.io import read_cloud

TITLE = "ETH"
EXPECTED = "SCENE/Hokuyo_0.csv, ... (or PointCloud0.csv) with pose_scanner_leica.csv, or SCENE/Hokuyo_0.ply with gt.log"
VOXEL, KEYPOINTS = 0.1, "iss"
"""Metres, for own features; the paper matches ISS keypoints by FPFH."""
POSES = "pose_scanner_leica.csv"
LOCAL, GLOBAL = "Hokuyo_", "PointCloud"
INSIDE = (".", "csv_local", "local_frame", "csv_global", "global_frame", "leica")
CUSTOM = Custom(TITLE, (LOCAL, "cloud_bin_"), ("{scene}/gt.log", "{scene}/PointCloud/gt.log"), VOXEL, KEYPOINTS)
ID_AND_TIME = 2


def recognise(folder: Path) -> bool:
    if any(_poses_file(scene) for scene in _scenes(folder)):
        return True
    found = [scene for scene in fragments.scenes(folder, CUSTOM) if scene.log(CUSTOM)]
    return any(scene.prefix == LOCAL or scene.name.startswith(("gazebo", "wood")) for scene in found)


def _scenes(folder: Path) -> list[Path]:
    return [folder, *sorted(child for child in folder.iterdir() if child.is_dir() and child.name not in INSIDE)]


def _poses_file(scene: Path) -> Path | None:
    return next((path for path in (scene / name / POSES for name in INSIDE) if path.is_file()), None)


def find(folder: Path, options: Options) -> list[Found]:
    found = []
    for scene in _scenes(folder):
        poses = _poses_file(scene)
        if poses is not None:
            numbers = list(read_poses(poses))
            scans = {number: _scan(scene, number) for number in numbers}
            name = scene.resolve().name
            found += [Found(f"{name}@{i}_{j}", (poses, scans[j], scans[i]), name) for i, j in pairwise(numbers)]
    return found or fragments.find(folder, CUSTOM, options)


def read_poses(path: Path) -> dict[int, FloatArray]:
    """Number of the scan → global ← scan, 4×4."""
    try:
        table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise FileFormatError(f"{path}: expected poseId, timestamp, T00 ... T33 a line ({str(error)[:80]})") from error
    if table.shape[1] != ID_AND_TIME + 16 or not len(table):
        raise FileFormatError(f"{path}: {table.shape[1]} columns: expected 18: poseId, timestamp, T00 ... T33")
    return {int(row[0]): rigid(row[ID_AND_TIME:].reshape(4, 4), f"{path}: pose {row[0]:g}") for row in table}


def _scan(scene: Path, number: int) -> Path:
    names = (f"{LOCAL}{number}.csv", f"{GLOBAL}{number}.csv")
    found = next((path for name in names for path in (scene / i / name for i in INSIDE) if path.is_file()), None)
    if found is None:
        raise InputError(f"{scene}: {POSES} names scan {number}, but there is no {' or '.join(names)}")
    return found


def _points(path: Path, pose: FloatArray) -> FloatArray:
    """A scan in its own frame."""
    points = read_cloud(path)
    return (points - pose[:3, 3]) @ pose[:3, :3] if path.name.startswith(GLOBAL) else points


def load(folder: Path, name: str, options: Options) -> DataPair:
    parts = re.fullmatch(r"(.+)@(\d+)_(\d+)", name)
    scene = next((s for s in _scenes(folder) if parts and s.resolve().name == parts[1] and _poses_file(s)), None)
    if parts is None or scene is None:
        return fragments.load(folder, name, CUSTOM, options)
    file = _poses_file(scene)
    assert file is not None
    i, j = int(parts[2]), int(parts[3])
    poses = read_poses(file)
    if not {i, j} <= set(poses):
        raise InputError(f"{file}: has no poses of both {i} and {j}")
    clouds = [_points(_scan(scene, number), poses[number]) for number in (j, i)]
    matched = clouds_to_pairs(
        *clouds,
        options.voxel or VOXEL,
        options.keypoints or KEYPOINTS,
        mutual=options.mutual,
        most=options.most,
    )
    truth = np.linalg.inv(poses[i]) @ poses[j]
    return DataPair(name, *matched, truth, RULES[TITLE].noise_bound, TITLE)
