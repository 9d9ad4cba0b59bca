"""`tear3d synth` and `tear3d demo`: problems with a known answer."""

import json
from typing import get_args

import numpy as np
import pytest

from tear3d.cli.options import Cloud, Kind
from tear3d.io.pairs import read_pairs
from tear3d.synthetic import OutlierKind, make_problem
from tests.cli.support import run


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_synth_writes_what_register_reads(solver, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    options = ["--pairs", 300, "--outliers", 0.9, "--cloud", "teapot", "--kind", "plane", "--seed", 3]
    output = run("synth", path, *options, "--noise", 0.02).stdout
    assert "300 pairs, 30 of them right" in output
    wanted = make_problem(300, 0.9, cloud="teapot", outliers="plane", seed=3, noise=0.02)
    pairs = read_pairs(path)
    np.testing.assert_array_equal(pairs.source, wanted.source)
    np.testing.assert_array_equal(pairs.target, wanted.target)
    if suffix == ".npz":
        with np.load(path) as file:
            np.testing.assert_array_equal(file["transformation"], wanted.transformation)
            np.testing.assert_array_equal(file["inlier_mask"], wanted.inlier_mask)
    next_command = output.partition("next: tear3d ")[2].split()
    run(*next_command)
    assert solver.calls[0]["noise_bound"] == pytest.approx(0.1108)


def test_synth_refuses_unknown_formats(tmp_path):
    assert "unknown suffix" in run("synth", tmp_path / "p.ply", code=2).stderr


def test_choices_are_those_of_the_library():
    assert [kind.value for kind in Kind] == list(get_args(OutlierKind))
    for cloud in Cloud:
        make_problem(5, 0.0, cloud=cloud.value)


def test_demo_compares_with_the_truth_and_writes_nothing(solver, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solver.transformation = make_problem(10_000, 0.95, cloud="teapot").transformation
    output = run("demo").stdout.replace("\u202f", " ")
    assert "rotation 0.000° off" in output
    assert "500 of 10 000 pairs" in output
    assert "those that agree" in output
    assert list(tmp_path.iterdir()) == []
    run("demo", "--pairs", 500, "--out", "r.json", code=0)
    assert json.loads((tmp_path / "r.json").read_text())["num_pairs"] == 500


def test_demo_writes_its_report_where_told_and_says_so(solver, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = run("demo", "--pairs", 300, "--report", "out/demo.html").stdout
    assert "wrote out/demo.html" in output
    page = (tmp_path / "out" / "demo.html").read_text("utf-8")
    assert "A teapot, 95 % of its matches wrong" in page
