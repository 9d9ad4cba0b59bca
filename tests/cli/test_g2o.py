"""`--g2o`: the pose and its covariance as an edge of a pose graph."""

import json

import numpy as np

from tear3d.io.pairs import write_pairs
from tear3d.synthetic import make_problem
from tests.bumpy import apply, bumpy_cloud, pose
from tests.cli.support import run
from tests.io.test_g2o import read_edge
from tests.judge.errors import nees


def test_register_writes_an_edge(tmp_path):
    problem = make_problem(200, 0.5, seed=1)
    write_pairs(tmp_path / "pairs.npz", problem.source, problem.target, noise_bound=problem.noise_bound)
    printed = run("register", tmp_path / "pairs.npz", "--no-certify", "--g2o", tmp_path / "graph" / "edge.g2o")
    assert "edge.g2o" in printed.stdout
    vertices, measured, information = read_edge((tmp_path / "graph" / "edge.g2o").read_text())
    assert vertices == [0, 1]
    np.testing.assert_allclose(measured, problem.transformation, atol=0.01)
    assert (np.linalg.eigvalsh(information) > 0).all()


def test_align_writes_the_refined_pose_and_its_covariance(tmp_path):
    truth = pose([0.4, -0.2, 1.0], [3.0, 1.0, -2.0])
    source, target = bumpy_cloud(6000, 0), apply(truth, bumpy_cloud(6000, 1))
    np.save(tmp_path / "a.npy", source)
    np.save(tmp_path / "b.npy", target)
    run("align", tmp_path / "a.npy", tmp_path / "b.npy", "-v", 0.1, "--no-certify", "--g2o", tmp_path / "edge.g2o",
        "--out", tmp_path / "result.json")  # fmt: skip
    _, measured, information = read_edge((tmp_path / "edge.g2o").read_text())
    result = json.loads((tmp_path / "result.json").read_text())
    np.testing.assert_allclose(measured, result["transformation"], atol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(information)[:3, :3], np.array(result["covariance"])[3:, 3:], rtol=1e-6)
    assert nees(np.array(result["covariance"]), measured, truth) < 40


def test_without_a_covariance_there_is_no_file_and_a_warning(solver, pairs_file, tmp_path):
    printed = run("register", pairs_file, "--g2o", tmp_path / "edge.g2o")
    assert not (tmp_path / "edge.g2o").exists()
    assert "covariance of this pose is not known" in " ".join(printed.output.split())
    assert "wrote" not in printed.stdout


def test_the_name_is_checked_before_the_work(solver, pairs_file, tmp_path):
    assert "is one of the inputs" in run("register", pairs_file, "--g2o", pairs_file, code=2).stderr
    assert not solver.calls


def test_a_scale_has_no_place_in_an_edge(solver, pairs_file, tmp_path):
    said = run("register", pairs_file, "--scale", "--g2o", tmp_path / "edge.g2o", code=2).stderr
    assert said == "error: --g2o and --scale contradict each other: an edge of a pose graph has no scale\n"
    assert not solver.calls
