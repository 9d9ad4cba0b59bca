"""Limits hold for all instances together, and each has its part of them."""

from __future__ import annotations

import time

import pytest

import tear3d
from tear3d.instances.solve import _part_of
from tear3d.problem.limits import Limits
from tear3d.synthetic import make_scene
from tests.instances.test_instances import register

SCENE = make_scene(2000, (0.1, 0.07, 0.04), seed=1)


def test_nothing_is_found_in_no_time():
    result = register(SCENE, time_limit=0.0)
    assert (result.status, result.instances) == ("time_limit", ())


def test_cells_are_divided():
    result = register(SCENE, certify=True, node_limit=900, threads=1)
    assert [one.status for one in result.instances] == ["node_limit"] * 3
    cells = [one.certificate.cells for one in result.instances]
    assert all(cells)
    assert sum(cells) < 2000


def test_an_interruption_ends_it():
    stages = []

    def stop(progress: tear3d.Progress) -> bool:
        stages.append(progress.stage)
        return progress.stage != "pose"

    began = time.perf_counter()
    # A gap that no proof closes before it is asked whether to go on.
    result = register(SCENE, certify=True, rel_gap=1e-12, progress=stop)
    assert time.perf_counter() - began < 30.0
    assert "pose" in stages
    assert [one.status for one in result.instances] == ["interrupted"] * 3


def test_parts_of_what_is_left():
    limits = Limits(time_limit=None, node_limit=90, proof_limit=60.0)
    with _part_of(limits, 3):
        assert (limits.node_limit, limits.proof_limit) == (30, 20.0)
        limits.laps["pose"] = 5.0
        limits.cells += 10
    assert (limits.node_limit, limits.proof_limit) == (90, 55.0)
    limits.laps = {}
    with _part_of(limits, 2):
        assert (limits.node_limit, limits.proof_limit) == (50, 27.5)


def test_parts_of_a_time_limit():
    limits = Limits(time_limit=10.0)
    limits.started = time.perf_counter() - 4.0
    with _part_of(limits, 3):
        assert limits.time_limit == pytest.approx(6.0, abs=0.5)
    assert limits.time_limit == 10.0


def test_cells_do_not_end_the_search_for_motions():
    result = register(SCENE, certify=True, node_limit=0, max_instances=5)
    assert len(result.instances) == 3
    assert result.message.startswith("three motions, and what they leave could be chance; the first: the node limit")
