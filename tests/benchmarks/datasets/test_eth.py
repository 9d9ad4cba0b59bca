"""ETH: the scans of the ASL, 3DSmoothNet's form of them, and the terrestrial scans of Theiler et al."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import Options, load, open_folder
from tear3d.errors import FileFormatError, InputError
from tear3d.io import write_cloud, write_pose
from tests.benchmarks.datasets.make import check_truth, stand, surface, true_motion, write_log
from tests.bumpy import apply

HEADER = "poseId, timestamp, " + ", ".join(f"T{row}{column}" for row in range(4) for column in range(4))
POINTS_HEADER = "Time_in_sec, x, y, z, Intensities, 2DscanId, PointId"
EVERY = Options(keypoints="all")


def world() -> np.ndarray:
    return surface(1.3, 1000)


def scan(k: int) -> np.ndarray:
    return apply(np.linalg.inv(stand(k)), world())


def write_csv(path: Path, points: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    other = np.zeros((len(points), 1))
    table = np.hstack([other, points, other, other, other])
    np.savetxt(path, table, delimiter=", ", header=POINTS_HEADER, comments="", fmt="%.8f")


def write_poses(path: Path, count: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [", ".join([str(k), "0.5", *(f"{value:.12f}" for value in stand(k).ravel())]) for k in range(count)]
    path.write_text("\n".join([HEADER, *rows]) + "\n")


def asl(root: Path, scene: str = "gazebo_summer", count: int = 3, frame: str = "local") -> Path:
    for k in range(count):
        name, points = (f"Hokuyo_{k}.csv", scan(k)) if frame == "local" else (f"PointCloud{k}.csv", world())
        write_csv(root / scene / f"csv_{frame}" / name, points)
    write_poses(root / scene / "csv_global" / "pose_scanner_leica.csv", count)
    return root / scene


@pytest.mark.parametrize("frame", ["local", "global"])
def test_scans_of_the_asl(tmp_path, frame):
    asl(tmp_path, frame=frame)
    data = open_folder(tmp_path)
    assert (data.layout, data.title, data.noise_bound) == ("eth", "ETH", 0.3)
    assert [entry.name for entry in data.entries] == ["gazebo_summer@0_1", "gazebo_summer@1_2"]
    pair = load(tmp_path, "eth", "gazebo_summer@0_1", EVERY)
    np.testing.assert_allclose(pair.truth, true_motion(1, 0), atol=1e-9)
    check_truth(pair)
    assert pair.limits == (3.0, 0.5)


def test_iss_keypoints_are_matched_by_default(tmp_path):
    asl(tmp_path)
    every, some = (load(tmp_path, "eth", "gazebo_summer@0_1", options) for options in (EVERY, Options()))
    assert 3 <= len(some.source) < len(every.source) / 3
    check_truth(some)


def test_the_form_of_3dsmoothnet(tmp_path):
    folder = tmp_path / "wood_autumn"
    write_log(folder / "gt.log", [(0, 2), (1, 2)])
    for k in range(3):
        write_cloud(folder / f"Hokuyo_{k}.ply", scan(k))
    data = open_folder(tmp_path)
    assert (data.layout, len(data.entries)) == ("eth", 2)
    pair = load(tmp_path, "eth", "wood_autumn@0_2", EVERY)
    np.testing.assert_allclose(pair.truth, true_motion(2, 0), atol=1e-9)
    check_truth(pair)
    rows = np.random.default_rng(0).normal(size=(1000, 4))
    for k in range(3):
        (folder / "01_Keypoints").mkdir(exist_ok=True)
        np.savetxt(folder / "01_Keypoints" / f"Hokuyo_{k}_Keypoints.txt", np.arange(0, 1000, 5), fmt="%d")
        np.save(folder / f"Hokuyo_{k}_described.npy", rows[::5])
    described = load(tmp_path, "eth", "wood_autumn@0_2")
    assert len(described.source) == 200
    check_truth(described, least=0.99)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER + "\n0, 0, 1\n", "3 columns: expected 18"),
        (HEADER + "\nnothing\n", "expected poseId, timestamp"),
        (HEADER + "\n0, 0" + ", 2" * 16 + "\n", "pose 0 is no rigid motion"),
    ],
)
def test_malformed_poses_are_named(tmp_path, text, said):
    folder = asl(tmp_path)
    (folder / "csv_global" / "pose_scanner_leica.csv").write_text(text)
    with pytest.raises(FileFormatError, match=said) as error:
        open_folder(tmp_path)
    assert "pose_scanner_leica.csv" in str(error.value)


def test_a_missing_scan_is_named(tmp_path):
    folder = asl(tmp_path)
    (folder / "csv_local" / "Hokuyo_1.csv").unlink()
    with pytest.raises(InputError, match=r"names scan 1, but there is no Hokuyo_1\.csv or PointCloud1\.csv"):
        open_folder(tmp_path)
    with pytest.raises(InputError, match="has no poses of both 0 and 9"):
        load(tmp_path, "eth", "gazebo_summer@0_9")


def tls(root: Path, scene: str = "facade") -> Path:
    folder = root / scene
    folder.mkdir(parents=True)
    for k in (1, 2, 3):
        write_cloud(folder / f"s{k}_v0.1.ply", scan(k))
    for source, target in ((2, 1), (3, 1)):
        write_pose(folder / f"s{source}-s{target}.pose", true_motion(source, target))
    return folder


def test_terrestrial_scans(tmp_path):
    tls(tmp_path)
    data = open_folder(tmp_path)
    assert (data.layout, data.title) == ("eth-tls", "ETH")
    assert [entry.name for entry in data.entries] == ["facade@s2_s1", "facade@s3_s1"]
    check_truth(load(tmp_path, "eth-tls", "facade@s3_s1", EVERY))


def test_given_matches_are_used_before_own_ones(tmp_path):
    folder = tls(tmp_path)
    np.savetxt(folder / "s2_s1_top3.match", np.hstack([scan(2), scan(1)])[:50])
    pair = load(tmp_path, "eth-tls", "facade@s2_s1")
    assert len(pair.source) == 50
    check_truth(pair, least=1.0)
    assert len(load(tmp_path, "eth-tls", "facade@s2_s1", Options(descriptors="own", keypoints="all")).source) > 500


def test_what_is_wrong_with_terrestrial_scans_is_named(tmp_path):
    folder = tls(tmp_path)
    (folder / "s3_v0.1.ply").unlink()
    with pytest.raises(InputError, match=r"s3-s1\.pose: there is no scan s3"):
        open_folder(tmp_path)
    (folder / "s2-s1.pose").write_text("1 2 3\n")
    with pytest.raises(FileFormatError, match=r"s2-s1\.pose"):
        load(tmp_path, "eth-tls", "facade@s2_s1")
    with pytest.raises(InputError, match="no pair 'facade@s1_s2'"):
        load(tmp_path, "eth-tls", "facade@s1_s2")
