"""KITTI odometry: which frames are paired, and the truth between lidar scans from poses of a camera."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.datasets import Options, load, open_folder
from benchmarks.datasets.kitti import APART, WITHIN, frame_pairs
from tear3d.errors import FileFormatError, InputError
from tests.benchmarks.datasets.make import check_truth, surface
from tests.bumpy import apply, pose

CALIBRATION = pose([1.2, -1.2, 1.2], [0.0, -0.08, -0.27])
"""Camera ← lidar: nearly an exchange of axes, as in KITTI."""
STEP = 0.8


def camera(k: int) -> np.ndarray:
    """World ← camera: forward along z, turning about y."""
    return pose([0.0, 0.02 * k, 0.0], [0.1 * k, 0.0, STEP * k])


def kitti(root: Path, frames: int = 30, sequence: str = "08", error: np.ndarray | None = None) -> Path:
    """Scans of one surface; `error` is a motion of the lidar that the poses do not know of."""
    folder = root / "sequences" / sequence
    (folder / "velodyne").mkdir(parents=True)
    (root / "poses").mkdir(exist_ok=True)
    np.savetxt(root / "poses" / f"{sequence}.txt", [camera(k)[:3].ravel() for k in range(frames)], fmt="%.12e")
    rows = " ".join(f"{value:.12e}" for value in CALIBRATION[:3].ravel())
    (folder / "calib.txt").write_text(f"P0: {' '.join(['0'] * 12)}\nTr: {rows}\n")
    world = surface(4.0, 1000) + np.array([20.0, 0.0, 0.0])
    for k in range(frames):
        there = camera(k) @ CALIBRATION @ (error if error is not None and k else np.eye(4))
        points = apply(np.linalg.inv(there), world)
        intensity = np.zeros((len(points), 1))
        np.hstack([points, intensity]).astype("<f4").tofile(folder / "velodyne" / f"{k:06d}.bin")
    return folder


def slow_pairs(positions: np.ndarray) -> list[tuple[int, int]]:
    """The rule word for word."""
    pairs, frame = [], 0
    while frame < len(positions):
        later = range(frame, min(frame + WITHIN, len(positions)))
        far = [k for k in later if np.linalg.norm(positions[k] - positions[frame]) > APART]
        if far and far[0] - 1 > frame:
            pairs.append((frame, far[0] - 1))
            frame = far[0]
        else:
            frame += 1
    return pairs


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 300), st.floats(0.01, 8.0))
def test_frames_are_paired_by_the_rule(seed, count, speed):
    positions = np.cumsum(np.random.default_rng(seed).uniform(0.0, speed, (count, 3)), axis=0)
    assert frame_pairs(positions, set(range(count))) == slow_pairs(positions)


def test_frames_without_a_scan_are_passed_over():
    positions = np.arange(40.0)[:, None] * [1.0, 0.0, 0.0]
    assert frame_pairs(positions, set(range(40))) == [(0, 10), (11, 21), (22, 32)]
    assert frame_pairs(positions, set(range(40)) - {10}) == [(1, 11), (12, 22), (23, 33)]
    assert frame_pairs(positions, set()) == []
    assert frame_pairs(positions[:5], set(range(5))) == []


def test_the_truth_is_between_lidars(tmp_path):
    kitti(tmp_path)
    data = open_folder(tmp_path)
    assert (data.layout, data.title, data.noise_bound) == ("kitti", "KITTI", 0.6)
    assert [entry.name for entry in data.entries] == ["08@0_12", "08@13_25"]
    pair = data.entries[0].load()
    check_truth(pair)
    assert pair.limits == (5.0, 0.6)
    # Without the calibration the truth would be another one.
    assert pair.within(np.linalg.inv(camera(12)) @ camera(0)).mean() < 0.05


def test_the_archives_of_kitti_unpack_into_a_folder_dataset(tmp_path):
    kitti(tmp_path / "dataset")
    assert len(open_folder(tmp_path).entries) == 2
    check_truth(load(tmp_path, "kitti", "08@0_12"))


def test_poses_are_refined_on_request(tmp_path):
    off = pose([0.0, 0.0, 0.004], [0.03, -0.02, 0.02])
    kitti(tmp_path, error=off)
    plain, refined = (load(tmp_path, "kitti", "08@0_12", Options(refine=refine)) for refine in (False, True))
    exact = np.linalg.inv(off) @ plain.truth
    assert np.abs(plain.truth - exact).max() > 0.01
    assert np.abs(refined.truth - exact).max() < 0.002


def test_other_sequences_must_be_asked_for(tmp_path):
    kitti(tmp_path, sequence="03")
    with pytest.raises(InputError, match="has the sequences 03, but none of 08, 09, 10"):
        open_folder(tmp_path)
    assert len(open_folder(tmp_path, options=Options(sequences=("03",))).entries) == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("poses/08.txt", None, "08.txt: no such file"),
        ("poses/08.txt", "1 2 3\n", "3 columns: expected 12"),
        ("poses/08.txt", "one two\n", "expected lines of 12 numbers"),
        ("poses/08.txt", " ".join(["0"] * 12) + "\n", "1 poses, but there is a scan 000001.bin"),
        ("sequences/08/calib.txt", None, "calib.txt: no such file"),
        ("sequences/08/calib.txt", "P0: 1\n", "`Tr:` has 0 numbers: expected 12"),
        ("sequences/08/calib.txt", "Tr: a b\n", "Tr is not made of numbers"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, name, text, said):
    kitti(tmp_path)
    if text is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        open_folder(tmp_path)


def test_a_truncated_scan_is_named(tmp_path):
    folder = kitti(tmp_path)
    scan = folder / "velodyne" / "000012.bin"
    scan.write_bytes(scan.read_bytes()[:-3])
    with pytest.raises(FileFormatError, match=r"000012\.bin"):
        load(tmp_path, "kitti", "08@0_12")
    with pytest.raises(InputError, match="has 30 poses and none of frame 31"):
        load(tmp_path, "kitti", "08@0_31")
