"""What to try: it follows from what is missing."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import tear3d
from tear3d.cli.advice import advice
from tear3d.result import Certificate
from tests.bumpy import bumpy_cloud
from tests.cli.support import FakeSolver, run

NOT = SimpleNamespace(success=False, ambiguity=None, evidence=SimpleNamespace(in_map=False))


def outcome(status="time_limit", gap=0.3, prior=None):
    rng = np.random.default_rng(0)
    found = FakeSolver(status=status)(rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), noise_bound=0.1)
    stages = tuple(replace(stage, saving_bound=stage.saving * (1.0 + gap)) for stage in found.certificate.stages)
    certificate = Certificate.of(*stages)
    return replace(found, certificate=certificate, settings={"prior": prior, "time_limit": "auto"})


def test_clouds_that_confirm_nothing_want_no_longer_proof():
    assert "--top-k 3" in advice(outcome(), NOT)
    assert "proof" not in advice(outcome(), NOT)


def test_a_thing_in_a_scene_wants_a_smaller_scene():
    assert "map" not in advice(outcome(), NOT)
    there = SimpleNamespace(success=False, ambiguity=None, evidence=SimpleNamespace(in_map=True))
    assert "cut the target down" in advice(outcome(), there)


def test_another_pose_that_fits_wants_to_be_excluded():
    assert "--initial" in advice(outcome(), SimpleNamespace(success=False, ambiguity=object(), evidence=None))


def test_a_larger_gap_is_advised_where_one_would_do():
    assert "larger --rel-gap" in advice(outcome(gap=0.3), None)
    assert "larger --rel-gap" not in advice(outcome(gap=40.0), None)
    assert "--rotation-axis" in advice(outcome(gap=40.0), None)
    assert "--rotation-axis" not in advice(outcome(gap=40.0, prior={"axis": 1}), None)


def test_pairs_that_could_be_chance_may_have_two_units():
    assert "--scale seeks a factor" in advice(outcome("no_consensus"), None)


def test_nothing_is_missing():
    assert advice(outcome("optimal"), None) == ""
    assert advice(outcome("optimal"), SimpleNamespace(success=True)) == ""


def test_info_says_that_the_points_of_a_mesh_are_sampled(tmp_path, monkeypatch):
    pytest.importorskip("trimesh").creation.box().export(tmp_path / "box.stl")
    monkeypatch.chdir(tmp_path)
    tear3d.write_cloud("cloud.ply", bumpy_cloud(200, 0))
    assert "spread over its faces" in " ".join(run("info", "box.stl").stdout.split())
    assert "faces" not in run("info", "cloud.ply").stdout
