"""The examples run as they stand and find what was made up for them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from tear3d.io import read_cloud, read_pose
from tear3d.io.pairs import write_pairs
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def main_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name: runpy.run_path(str(EXAMPLES / name))["main"]


def test_pairs(main_of, capsys):
    main_of("pairs.py")([])
    printed = capsys.readouterr().out
    assert printed.startswith("optimal")
    assert "rotation error 0." in printed


def test_pairs_from_a_file(main_of, capsys, tmp_path):
    problem = make_problem(1000, 0.8, seed=2)
    write_pairs(tmp_path / "pairs.npz", problem.source, problem.target)
    main_of("pairs.py")([str(tmp_path / "pairs.npz"), str(problem.noise_bound)])
    assert "200 inliers of 1000" in capsys.readouterr().out


def test_pairs_without_a_consensus_exit(main_of):
    rng = np.random.default_rng(0)
    write_pairs("random.npz", rng.normal(size=(60, 3)), rng.normal(size=(60, 3)))
    with pytest.raises(SystemExit, match="chance"):
        main_of("pairs.py")(["random.npz", "0.05"])


def test_instances(main_of, capsys):
    main_of("instances.py")([])
    printed = capsys.readouterr().out
    assert printed.startswith("three motions")
    assert printed.count("optimal") == 3
    assert "3950 pairs belong to none" in printed


def test_two_clouds(main_of):
    from scipy.spatial import cKDTree

    main_of("two_clouds.py")([])
    moved, upper = read_cloud("aligned/moved.ply"), read_cloud("aligned/upper.ply")
    pose = read_pose("aligned/pose.txt")
    overlap = read_cloud("aligned/lower.ply")[:, 2] > 0.7
    distance, _ = cKDTree(upper).query(moved[overlap])
    assert np.median(distance) < 0.05
    # make_clouds draws this rotation first.
    truth = np.eye(4)
    truth[:3, :3] = runpy.run_path(str(EXAMPLES / "two_clouds.py"))["random_rotation"](np.random.default_rng(5))
    assert rotation_error(pose, truth) < 0.5
    assert Path("aligned/report.html").stat().st_size < 8_000_000


def test_scan_folder(main_of, capsys):
    main_of("scan_folder.py")([])
    poses = np.loadtxt("poses.txt").reshape(-1, 3, 4)
    assert poses.shape[0] == 5
    # The scanner went 2 to the east at every step and turned by 0.7.
    np.testing.assert_allclose(poses[:, 0, 3], 2.0 * np.arange(5), atol=0.05)
    np.testing.assert_allclose(np.arctan2(poses[:, 1, 0], poses[:, 0, 0]) % (2 * np.pi), 0.7 * np.arange(5), atol=0.01)
    assert len(read_cloud("map.ply")) > 10_000
    assert capsys.readouterr().out.count("confirmed") == 4


def test_relocalise(main_of, capsys):
    from tear3d.lab.town import Town

    main_of("relocalise.py")([])
    printed = capsys.readouterr().out
    town, others = Town(90.0, seed=1), sorted(Path().glob("*.pose.txt"))
    assert [path.name for path in others] == ["scan0.pose.txt", "scan1.pose.txt"], printed
    for k, path in enumerate(others):
        # The scanner is the origin of its scan.
        np.testing.assert_allclose(read_pose(path)[:3, 3], town.eye(k, margin=8.0), atol=0.05)
    assert "Prepared(" in printed


def test_relocalise_needs_a_scan(main_of):
    with pytest.raises(SystemExit, match="at least one scan"):
        main_of("relocalise.py")(["map.ply"])


def test_scan_folder_needs_scans(main_of, tmp_path):
    with pytest.raises(SystemExit, match="at least two"):
        main_of("scan_folder.py")([str(tmp_path)])


def test_map(main_of, capsys):
    main_of("map.py")([])
    assert capsys.readouterr().out.startswith("all 6 scans are in one map")
    places = np.loadtxt("trajectory.tum")[:, 1:4]
    # Six places on a circle of radius 2.
    np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), 2.0, atol=0.05)
    assert len(read_cloud("map.ply")) > 5_000
    assert "VERTEX_SE3:QUAT 5 " in Path("graph.g2o").read_text()
    assert Path("map.html").stat().st_size < 8_000_000


def test_many(main_of, capsys):
    main_of("many.py")([])
    printed = capsys.readouterr().out
    assert "scan1 onto scan0: confirmed" in printed
    assert "scan3 onto scan0: confirmed" not in printed
    assert printed.count("confirmed") == 3
    assert "wrote edges.txt (3 of 6 pairs)" in printed
    edges = np.loadtxt("edges.txt")
    assert edges[:, :2].tolist() == [[0, 1], [0, 2], [1, 2]]
    near, far, step = (np.vstack((edge[2:].reshape(3, 4), [0, 0, 0, 1])) for edge in edges)
    assert rotation_error(near @ step, far) < 1.0  # the three fit together


def test_scale(main_of, capsys, tmp_path):
    main_of("scale.py")([])
    told = re.search(r"one unit of the source is (\S+) ± (\S+) of the target", capsys.readouterr().out)
    assert float(told[1]) == pytest.approx(3.7, abs=4.0 * float(told[2]))
    assert float(told[2]) < 0.01
    assert np.cbrt(np.linalg.det(read_pose(tmp_path / "similarity.txt")[:3, :3])) == pytest.approx(3.7, rel=0.01)
