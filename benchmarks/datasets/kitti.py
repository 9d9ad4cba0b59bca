"""KITTI odometry (Geiger et al., CVPR 2012): lidar scans about 10 m apart, as FCGF pairs them.

From a frame on, the first one more than 10 m away is looked for among the next 100, and the frame before it is the
second of the pair; the next pair begins after that (3DFeat-Net, FCGF). The pair 15, 58 of sequence 08 is left out, as
there. The first frame is the source, the second the target.

The poses are those of the left camera, so the truth between scans a and b is (P_b Tr)⁻¹ P_a Tr, with the calibration Tr
(camera ← lidar) of the sequence. FCGF and its followers use one Tr for all sequences, and refine by ICP but compose the
result in the wrong order; with `refine` the truth here is ICP's, composed in the right one.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from benchmarks.datasets.matching import clouds_to_pairs
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found
from benchmarks.datasets.rules import RULES
from benchmarks.datasets.trajectory import rigid
from benchmarks.real_pairs import FloatArray
from tear3d.errors import FileFormatError, InputError
from tear3d.io import read_cloud
from tear3d.refine import refine_icp

TITLE = "KITTI"
EXPECTED = "sequences/NN/velodyne/*.bin, sequences/NN/calib.txt and poses/NN.txt, NN = 08, 09, 10 if not told otherwise"
VOXEL = 0.3
"""Metres, for own features: what FCGF and PointDSC use."""
APART, WITHIN = 10.0, 100
"""Metres, and frames among which they are looked for."""
LEFT_OUT = {("08", 15, 58)}
ICP_DISTANCE, ICP_VOXEL = 0.2, 0.05
"""Metres: FCGF's point-to-point ICP."""


def recognise(folder: Path) -> bool:
    return any(_base(folder).glob("sequences/*/velodyne"))


def _base(folder: Path) -> Path:
    """The archives of KITTI unpack into `dataset`."""
    return folder / "dataset" if (folder / "dataset" / "sequences").is_dir() else folder


def find(folder: Path, options: Options) -> list[Found]:
    base = _base(folder)
    there = sorted(path.parent.name for path in base.glob("sequences/*/velodyne"))
    chosen = [name for name in there if name in options.sequences]
    if not chosen:
        raise InputError(
            f"{base}: has the sequences {', '.join(there) or 'none'}, but none of {', '.join(options.sequences)}: "
            f"expected {EXPECTED}"
        )
    return [found for sequence in chosen for found in _pairs(base, sequence)]


def _pairs(base: Path, sequence: str) -> list[Found]:
    scans = {int(path.stem): path for path in (base / "sequences" / sequence / "velodyne").glob("*.bin")}
    poses = read_poses(base, sequence)
    read_calibration(base, sequence)
    beyond = [frame for frame in scans if frame >= len(poses)]
    if beyond:
        raise FileFormatError(
            f"{_poses_file(base, sequence)}: {len(poses)} poses, but there is a scan {min(beyond):06d}.bin"
        )
    return [
        Found(f"{sequence}@{first}_{second}", (scans[first], scans[second]), sequence)
        for first, second in frame_pairs(poses[:, :3, 3], set(scans))
        if (sequence, first, second) not in LEFT_OUT
    ]


def frame_pairs(positions: FloatArray, frames: set[int]) -> list[tuple[int, int]]:
    """FCGF's rule over the positions of all frames, among the frames that have a scan."""
    pairs = []
    frame = min(frames, default=0)
    while frame <= max(frames, default=-1):
        far = np.linalg.norm(positions[frame : frame + WITHIN] - positions[frame], axis=1) > APART
        # The last frame that is not yet too far away.
        last = frame + int(far.argmax()) - 1 if far.any() else frame
        if last > frame and frame in frames and last in frames:
            pairs.append((frame, last))
            frame = last
        frame += 1
    return pairs


def _poses_file(base: Path, sequence: str) -> Path:
    places = (base / "poses" / f"{sequence}.txt", base / "sequences" / sequence / "poses.txt")
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise InputError(f"{places[0]}: no such file, nor {places[1]}: expected the poses of sequence {sequence}")
    return found


def read_poses(base: Path, sequence: str) -> FloatArray:
    """World ← camera for every frame, N×4×4."""
    path = _poses_file(base, sequence)
    try:
        rows = np.loadtxt(path, ndmin=2)
    except ValueError as error:
        raise FileFormatError(f"{path}: expected lines of 12 numbers ({str(error)[:80]})") from error
    if rows.shape[1] != 12 or not np.isfinite(rows).all():
        raise FileFormatError(
            f"{path}: {rows.shape[1]} columns: expected 12 finite numbers a line, the upper 3×4 of a pose"
        )
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3] = rows.reshape(-1, 3, 4)
    return poses


def read_calibration(base: Path, sequence: str) -> FloatArray:
    """Tr, camera ← lidar, 4×4."""
    path = base / "sequences" / sequence / "calib.txt"
    if not path.is_file():
        raise InputError(f"{path}: no such file: expected the calibration with a line `Tr:`")
    lines = dict(line.split(":", 1) for line in path.read_text(encoding="utf-8").splitlines() if ":" in line)
    try:
        values = [float(word) for word in lines.get("Tr", "").split()]
    except ValueError as error:
        raise FileFormatError(f"{path}: Tr is not made of numbers ({error})") from error
    if len(values) != 12:
        raise FileFormatError(f"{path}: `Tr:` has {len(values)} numbers: expected 12, the upper 3×4 of camera ← lidar")
    return np.vstack([np.reshape(values, (3, 4)), [0.0, 0.0, 0.0, 1.0]])


def load(folder: Path, name: str, options: Options) -> DataPair:
    parts = re.fullmatch(r"(\d+)@(\d+)_(\d+)", name)
    if parts is None:
        raise InputError(f"{folder}: has no pair {name!r}: expected sequence@first_second")
    base, sequence, frames = _base(folder), parts[1], (int(parts[2]), int(parts[3]))
    poses = read_poses(base, sequence)
    if max(frames) >= len(poses):
        raise InputError(f"{_poses_file(base, sequence)}: has {len(poses)} poses and none of frame {max(frames)}")
    source, target = (read_cloud(base / "sequences" / sequence / "velodyne" / f"{k:06d}.bin") for k in frames)
    truth = between(poses[frames[0]], poses[frames[1]], read_calibration(base, sequence))
    if options.refine:
        refined = refine_icp(source, target, truth, method="icp", max_distance=ICP_DISTANCE, voxel_size=ICP_VOXEL)
        truth = refined.transformation
    matched = clouds_to_pairs(
        source, target, options.voxel or VOXEL, options.keypoints, mutual=options.mutual, most=options.most
    )
    return DataPair(name, *matched, truth, RULES[TITLE].noise_bound, TITLE)


def between(first: FloatArray, second: FloatArray, calibration: FloatArray) -> FloatArray:
    """Scan of the second frame ← scan of the first."""
    return rigid(np.linalg.inv(second @ calibration) @ first @ calibration, "the motion between two poses")
