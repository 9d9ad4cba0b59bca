"""The benchmark of the verdict: its cases are what they say, and it goes on where it was stopped."""

import json

import numpy as np
import pytest

from benchmarks import scans, verdict
from benchmarks.scans import Scan
from benchmarks.verdict_cases import Case, cases
from tests.bumpy import apply, pose


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("3dmatch_kitchen_0_1_fpfh", "3dmatch_kitchen_4_21_fpfh", False),
        ("3dmatch_kitchen_0_1_fpfh", "3dmatch_home_2_38_fpfh", True),
        ("3dmatch_mac_demo", "3dmatch_home_2_38_fpfh", False),
        ("kitti_far_04_source", "kitti00_0_10_fpfh", False),
        ("kitti00_0_10_source", "kitti09_210_191_fpfh", True),
        ("simpleicp_bunny_parts_fpfh", "stanford_bunny_045_090_fpfh", False),
        ("stanford_dragon_0_336_target", "stanford_bunny_045_090_fpfh", True),
    ],
)
def test_which_scans_surely_show_different_things(one, two, apart):
    scan, other = (Scan(name, np.zeros((0, 3))) for name in (one, two))
    assert scan.elsewhere(other) == other.elsewhere(scan) == apart


def test_scans_are_linked_by_their_points(tmp_path):
    """The target points of one file are the source points of another, and poses are chained."""
    (tmp_path / "pairs").mkdir()
    rng = np.random.default_rng(0)
    wide = np.round(rng.uniform(0.0, 9.0, (3000, 3)), 3)
    steps = [pose([0.1, 0.0, 0.2], [1.0, 2.0, 3.0]), pose([0.0, 0.3, 0.0], [0.0, 1.0, 0.0])]
    clouds = [wide, apply(steps[0], wide), apply(steps[1] @ steps[0], wide)]
    for k, name in enumerate(("park_a_b", "park_b_c", "park_c_d")):
        target = clouds[(k + 1) % 3] if k < 2 else wide + 50.0
        truth = steps[k] if k < 2 else np.eye(4)
        np.savez(tmp_path / "pairs" / f"{name}.npz", src=clouds[k], dst=target, T_gt=truth, xi=0.1)
    every, together = scans.read(tmp_path)
    assert len(every) == 3
    assert len(together) == 3
    for pair in together:
        moved = apply(pair.truth, pair.source.points)
        assert np.abs(np.sort(moved, axis=0) - np.sort(pair.target.points, axis=0)).max() < 1e-6


def test_generated_cases_are_right():
    made = {case.kind + case.name.split()[0]: case for case in cases(None)}
    assert len(made) == 4
    for case in made.values():
        source, target, truth = case.make()
        assert (truth is not None) == case.related
        assert min(len(source), len(target)) > 2000
        if truth is not None:
            near = np.linalg.norm(apply(truth, source)[::20, None] - target[None, ::3], axis=2).min(axis=1)
            assert np.median(near) < 0.1


def fake(success, right=None):
    def measure(case, threads):
        return {
            "kind": case.kind, "name": case.name, "related": case.related,
            "verdict": "confirmed" if success else "rejected",
            "success": success, "right": right, "significance": -5.0, "fit": 0.5, "wanted": 0.2, "seconds": 1.0,
        }  # fmt: skip

    return measure


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    chosen = [Case("a", str(k), lambda: None, related=k == 0) for k in range(3)]
    monkeypatch.setattr(verdict, "measure", fake(True, True))
    verdict.run(chosen[:2], tmp_path / "v.jsonl", 1)
    monkeypatch.setattr(verdict, "measure", fake(False))
    rows = verdict.run(chosen, tmp_path / "v.jsonl", 1)
    assert [row["success"] for row in rows] == [True, True, False]
    assert len((tmp_path / "v.jsonl").read_text().splitlines()) == 3
    lines = {line[0]: line for line in verdict.table(rows)}
    assert lines["all unrelated"][1:4] == ["2", "1", "1"]
    assert lines["all related"][5] == "1/1/0"
    assert "unrelated pairs" in verdict.picture(rows)
    assert json.dumps(rows)


def test_a_limit_trades_misses_for_false_alarms():
    trade = verdict._trade([3.0, 4.0], [1.0, 3.5])
    assert (0.0, 50.0) in trade
    assert (50.0, 0.0) in trade
    assert trade[0] == (0.0, 50.0) or trade[0] == (0.0, 100.0)


def test_a_pair_is_measured(monkeypatch):
    case = next(case for case in cases(None) if case.name == "object 0")
    row = verdict.measure(case, 1)
    assert row["success"]
    assert row["right"]
    assert row["fit"] > row["wanted"]
