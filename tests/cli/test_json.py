"""One JSON for pairs and for clouds."""

import json

import numpy as np
import pytest

from tear3d.judge.ambiguity import Ambiguity
from tear3d.result import Alternative
from tests.cli.support import FOUND, REFINED, FakeSolver, run
from tests.report.case import make_case, make_found

COMMON = [
    *("schema", "kind", "transformation", "success", "status", "message", "significance", "ambiguity"),
    *("alternatives", "covariance", "scale", "scale_std", "num_pairs", "num_inliers", "fitness", "inlier_rmse"),
    *("objective", "saving", "certificate", "centre", "centre_shift", "seconds", "settings", "instances", "noise"),
]
CLOUDS = [
    *("verdict", "reasons", "evidence", "tries", "voxel_size", "noise_bound", "num_source_points"),
    *("num_target_points", "dropped", "notes", "matches", "refinement"),
]


def strictly(value):
    """Through JSON as its standard has it."""
    return json.loads(json.dumps(value, allow_nan=False))


def test_pairs_and_clouds_share_their_first_fields(solver, aligner, pairs_file, files):
    pairs = json.loads(run("register", pairs_file, "--json").stdout)
    clouds = json.loads(run("align", *files, "--json").stdout)
    assert list(pairs) == COMMON
    assert list(clouds) == COMMON + CLOUDS
    assert (pairs["kind"], clouds["kind"]) == ("pairs", "clouds")
    assert pairs["schema"] == clouds["schema"] == 1
    np.testing.assert_array_equal(clouds["transformation"], REFINED)
    np.testing.assert_array_equal(clouds["matches"]["transformation"], FOUND)
    assert clouds["seconds"] == {"downsample": 0.1, "register": 0.4}
    assert clouds["matches"]["seconds"] == {"row 1": 0.61, "row 2": 0.004}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_become_null_by_to_dict_itself(bad):
    other = Alternative(np.eye(4), 1.0, 3, bad)
    changes = {"significance": bad, "inlier_rmse": bad, "seconds": {"a": bad}, "alternatives": (other,)}
    problem, result = make_case(50, 0.5, status="time_limit", gap=float("inf"), **changes)
    for told in (strictly(result.to_dict()), strictly(make_found(problem, result, noise_bound=bad).to_dict())):
        assert told["significance"] is told["inlier_rmse"] is told["alternatives"][0]["significance"] is None
        assert told["certificate"]["stages"][0]["saving_bound"] is None
    assert told["noise_bound"] is None
    assert told["matches"]["seconds"] == {"a": None}


def test_the_clouds_decide_what_is_said_at_the_top():
    problem, result = make_case(50, 0.5, ambiguity=Ambiguity("of the matches"), covariance=np.eye(6))
    told = strictly(make_found(problem, result, verdict="rejected", reasons=("no",)).to_dict())
    assert told["success"] is False
    assert told["matches"]["success"] is True
    assert told["ambiguity"] is None
    assert told["matches"]["ambiguity"]["sentence"] == "of the matches"
    assert told["covariance"][0][0] == 1e-6
    assert told["matches"]["covariance"][0][0] == 1.0
    assert told["evidence"]["overlap"] == 0.52


def test_ambiguous_pairs_exit_with_3_and_say_so(solver, pairs_file, monkeypatch):
    import dataclasses

    import tear3d

    def ambiguous(*args, **options):
        return dataclasses.replace(FakeSolver()(*args, **options), ambiguity=Ambiguity("either way up"))

    monkeypatch.setattr(tear3d, "register", ambiguous, raising=False)
    shown = run("register", pairs_file, code=3).stdout
    assert "optimal, ambiguous" in shown
    assert "either way up" in shown
    assert json.loads(run("register", pairs_file, "--json", code=3).stdout)["ambiguity"]["sentence"] == "either way up"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_digit_of_the_pose_is_lost_in_a_narrow_terminal(aligner, files, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run("align", *files).stdout
    assert "…" not in shown
    for row in REFINED[:3]:
        assert f"{row[3]:.6f}" in shown
    assert "gap closed" in shown
