"""The whole pose under limits: bounds that hold however a search ends, and looks at the clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.pose import Pose
from tear3d.prove.driver import maximise
from tear3d.prove.pose.cells import CELL_COST
from tear3d.prove.pose.nodes import BOXES, LIST, VOTES, roots
from tear3d.prove.pose.run import CELL_SLICE, TURN
from tear3d.prove.pose.stage import WholePose
from tear3d.prove.stage import Task
from tests.prove.pose.cases import node_of
from tests.prove.pose.problems import bare
from tests.prove.pose.test_stage import TEAR, solve, synthetic


@pytest.mark.parametrize("limit", [0, 20, 500, 3000])
def test_a_node_limit_leaves_an_honest_bound(limit):
    pairs, _, saving = synthetic(300, 0.9)
    poor = Pose(random_rotation(np.random.default_rng(0)), np.zeros(3))
    limits = Limits(node_limit=limit)
    _, certificate = solve(pairs, poor, limits=limits)
    assert certificate.saving_bound >= saving
    assert certificate.cells == limits.cells <= limit
    assert not certificate.closed
    assert certificate.ended_by == "node_limit"


def test_time_limit_and_cancellation_leave_an_honest_bound():
    pairs, pose, saving = synthetic(300, 0.95)
    _, ended = solve(pairs, pose, limits=Limits(time_limit=0.0), threads=1)
    assert ended.ended_by == "time_limit"
    assert ended.saving_bound >= saving
    assert ended.cells == 0
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) < 2

    limits = Limits(progress=stop, interval=0.0)
    _, ended = solve(pairs, pose, limits=limits, rel_gap=1e-4)
    assert ended.ended_by == "interrupted"
    assert not ended.closed
    assert ended.saving_bound >= saving
    assert seen[0].stage == "pose"
    assert seen[0].saving_bound >= ended.saving


@dataclass
class Watched(Limits):
    """Limits that know when they were looked at."""

    looks: list[float] = field(default_factory=list)
    patience: float = np.inf
    """Over after so many looks, ..."""
    once: bool = False
    """... and at the next one no more."""

    def over(self) -> bool:
        self.looks.append(time.perf_counter())
        beyond = len(self.looks) - self.patience
        return beyond == 1 if self.once else beyond > 0


def many(n, spread):
    """Pairs of which most agree with no pose, and a good pose for the others."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    y = x + 0.01 * rng.normal(size=(n, 3))
    y[n // 2 :] = spread * rng.normal(size=(n - n // 2, 3))
    return WholePose(bare(x, y, 0.05), TEAR, Pose.identity())


@pytest.mark.parametrize("stop", [{"time_limit": 0.0}, {"cancelled": True}])
def test_pairs_that_were_not_packed_in_time_leave_an_honest_bound(stop):
    pairs, pose, saving = synthetic(300, 0.95)
    limits = Limits(**stop)
    stage = WholePose(pairs, TEAR, pose, limits=limits)
    assert stage.packed is None
    _, ended, far = maximise(stage, stage.start(), rel_gap=1e-2, limits=limits)
    assert ended.ended_by == ("interrupted" if limits.cancelled else "time_limit")
    assert not ended.closed
    assert ended.saving == pytest.approx(saving)
    assert ended.saving_bound == pytest.approx(pairs.total(TEAR), rel=1e-12)
    assert ended.saving_bound >= pairs.total(TEAR)
    assert ended.elsewhere == ended.saving_bound
    assert far is None


def test_pairs_are_packed_after_all_when_the_time_went_into_compiling():
    pairs, pose, _ = synthetic(300, 0.95)
    limits = Watched(once=True, patience=0)
    stage = WholePose(pairs, TEAR, pose, limits=limits)
    assert len(limits.looks) == 2
    assert stage.packed.size == 300
    assert stage.floor == 0.0


@pytest.mark.parametrize("phase", [VOTES, BOXES])
@pytest.mark.parametrize("n", [4, 3_000, 300_000])
def test_the_clock_is_looked_at_often_enough(n, phase):
    stage = many(n, 2.0)
    p, work = stage.packed, stage.workspace()
    nodes = roots(p.low, p.high, p.ceiling)[:8] if phase == VOTES else roots(p.low, p.high, p.ceiling)[13:14]
    nodes[:, 1] = phase
    for patience in (np.inf, 1):
        limits = Watched(patience=patience)
        task = Task(0.0 if n < 100 else 1e-3 * p.ceiling, 0.0, 64, limits)
        stage.search(nodes, Task(*task[:3], Watched(patience=0)), work)  # compiled now
        outcome = stage.search(nodes, task, work)
        assert outcome.cells <= 64
        between = (CELL_SLICE + n + CELL_COST) if phase == VOTES else np.inf  # a slice ends with the cell it is in
        assert len(limits.looks) >= max(1, outcome.work / between)
        if patience == 1:  # one slice of work, and a last look or two for each node
            assert len(limits.looks) <= 1 + 2 * len(nodes)
            if n == 300_000 and phase == VOTES:
                assert outcome.cells <= 1 + CELL_SLICE // n
        assert np.diff(limits.looks, append=time.perf_counter()).max() < 0.5  # 0.1 on a machine that does nothing else


def test_a_stopped_piece_leaves_its_nodes_as_they_were():
    stage = many(100, 2.0)
    nodes = roots(stage.packed.low, stage.packed.high, stage.packed.ceiling)
    for phase in (VOTES, BOXES):
        nodes[:, 1] = phase
        for task in (Task(0.0, 0.0, 100, Watched(patience=0)), Task(0.0, 0.0, 0, Limits())):
            outcome = stage.search(nodes[:3], task, stage.workspace())
            assert outcome.cells == 0
            assert np.array_equal(outcome.open[:, :LIST], nodes[:3, :LIST])
            for number in outcome.open[:, LIST]:
                assert len(stage.lists.take(int(number), 100)) == 100
            assert outcome.closed == 0.0


def test_a_turn_ends_and_its_stack_comes_back():
    stage = many(60, 0.5)
    node = node_of(
        stage.packed.ceiling, BOXES, 0, (np.full(3, -0.1), np.full(3, 0.1)), (np.full(3, -0.5), np.full(3, 0.5))
    )
    outcome = stage.search(node[None], Task(0.0, 0.0, 2**40, Limits()), stage.workspace())
    assert outcome.cells == TURN
    assert len(outcome.open)
    assert np.all(outcome.open[:, 1] == BOXES)
    assert outcome.saving > 0.0
    assert isinstance(outcome.solution, Pose)
