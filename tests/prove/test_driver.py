"""The driver on a stage whose optimum is known: its bound holds at every moment, however the search ends."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.prove import driver
from tear3d.prove import stage as stages
from tear3d.prove.driver import maximise
from tear3d.prove.stage import Outcome
from tests.prove.mock import BEST, BEST_X, START, Landscape, bumps


def watched(**options):
    """Limits that note every report."""
    seen = []
    return Limits(progress=seen.append, interval=0.0, **options), seen


def assert_honest(found, reports=()):
    proof = found.certificate
    assert proof.saving <= BEST + 1e-12
    assert proof.saving_bound >= BEST
    assert bumps(found.solution) == proof.saving
    assert proof.objective == 100.0 - proof.saving
    assert proof.lower_bound == 100.0 - proof.saving_bound
    for _, saving, bound in proof.history:
        assert saving <= BEST + 1e-12 <= bound + 2e-12
    for report in reports:
        assert report.saving <= BEST + 1e-12 <= report.saving_bound + 2e-12
        assert 0.0 <= report.done <= 1.0


@pytest.mark.parametrize("rel_gap", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("depth", [1, 3])
def test_finds_the_known_optimum(rel_gap, depth):
    limits, reports = watched()
    found = maximise(Landscape(depth=depth), START, rel_gap=rel_gap, limits=limits)
    proof = found.certificate
    assert (proof.name, proof.ended_by, proof.closed) == ("mock", "gap", True)
    assert proof.saving_bound - proof.saving <= rel_gap * proof.saving
    assert proof.cells == limits.cells > 8
    assert_honest(found, reports)


def test_the_history_tells_the_search():
    found = maximise(Landscape(), START, rel_gap=1e-4, limits=Limits())
    seconds, saving, bound = found.certificate.history.T
    assert np.all(np.diff(seconds) >= 0)
    assert np.all(np.diff(saving) >= 0)
    assert np.all(np.diff(bound) <= 0)
    assert (saving[0], bound[0]) == (START[0], 50.0)
    assert (saving[-1], bound[-1]) == (found.certificate.saving, found.certificate.saving_bound)


def test_pruned_and_open_cells_tile_the_domain():
    found = maximise(Landscape(), (BEST, BEST_X), rel_gap=1e-9, limits=Limits(node_limit=60))
    visited = found.certificate.visited
    assert set(visited[:, 5]) == {0.0, 1.0, stages.OPEN}
    leaves = visited[visited[:, 5] > 0]
    ends = leaves[np.argsort(leaves[:, 0]), :2]
    assert (ends[0, 0], ends[-1, 1]) == (0.0, 1.0)
    assert all(left[1] == right[0] for left, right in pairwise(ends))


@pytest.mark.parametrize(("depth", "node_limit"), [(1, None), (4, None), (2, 101)])
def test_same_bits_for_any_number_of_threads(depth, node_limit):
    one, *others = (
        maximise(
            Landscape(pause=2e-5, nodes=16, pieces=8, depth=depth, phases=2),
            START,
            rel_gap=1e-5,
            limits=Limits(node_limit=node_limit),
            threads=threads,
        )
        for threads in (1, 2, 4)
    )
    for other in others:
        assert other.solution == one.solution
        assert other.certificate.to_dict() == one.certificate.to_dict()
        np.testing.assert_array_equal(other.certificate.visited, one.certificate.visited)


@pytest.mark.parametrize("node_limit", [0, 1, 2, 3, 17, 40, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_node_limit_is_exact_and_the_bound_honest(node_limit, threads):
    limits = Limits(node_limit=node_limit)
    found = maximise(Landscape(depth=3), START, rel_gap=1e-9, limits=limits, threads=threads)
    proof = found.certificate
    assert (proof.ended_by, proof.closed) == ("node_limit", False)
    assert proof.cells == limits.cells == node_limit
    assert proof.saving_bound <= 50.0
    assert_honest(found)
    if node_limit == 0:
        assert (found.solution, proof.saving_bound) == (START[1], 50.0)


def test_cells_are_counted_across_stages():
    limits = Limits(node_limit=60)
    first = maximise(Landscape(), START, rel_gap=0.5, limits=limits).certificate
    second = maximise(Landscape(), START, rel_gap=1e-9, limits=limits).certificate
    assert (first.ended_by, second.ended_by) == ("gap", "node_limit")
    assert first.cells + second.cells == limits.cells == 60


@pytest.mark.clock
@pytest.mark.parametrize("threads", [1, 2])
def test_the_time_limit_keeps_an_honest_bound(threads):
    limits, reports = watched(time_limit=0.5)
    stage = Landscape(pause=2e-3, depth=50, nodes=4, pieces=4)
    began = time.perf_counter()
    found = maximise(stage, START, rel_gap=1e-12, limits=limits, threads=threads)
    assert 0.5 <= time.perf_counter() - began < 1.0
    assert (found.certificate.ended_by, found.certificate.closed) == ("time_limit", False)
    assert found.certificate.cells > 4
    assert_honest(found, reports)


def test_no_time_at_all():
    proof = maximise(Landscape(), START, rel_gap=0.1, limits=Limits(time_limit=0.0)).certificate
    assert (proof.ended_by, proof.cells, proof.saving_bound) == ("time_limit", 0, 50.0)
    limits = Limits()
    limits.cancel()
    proof = maximise(Landscape(), START, rel_gap=0.1, limits=limits).certificate
    assert (proof.ended_by, proof.cells, proof.saving_bound) == ("interrupted", 0, 50.0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("stop", [False, KeyboardInterrupt])
@pytest.mark.parametrize("when", [1, 3, 12])
def test_the_callback_can_stop_the_search(threads, stop, when):
    seen = []

    def progress(report):
        seen.append(report)
        if len(seen) == when:
            if stop is KeyboardInterrupt:
                raise KeyboardInterrupt
            return False
        return None

    stage = Landscape(pause=1e-3, depth=50, nodes=4, pieces=4)
    limits = Limits(progress=progress, interval=0.005)
    found = maximise(stage, START, rel_gap=1e-12, limits=limits, threads=threads)
    assert (found.certificate.ended_by, found.certificate.closed) == ("interrupted", False)
    assert when <= len(seen) <= when + 2
    assert seen[-1].stage == "mock"
    assert_honest(found, seen)


@pytest.mark.clock
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("when", [1, 5])
def test_what_the_callback_raises_arrives_promptly_and_leaves_no_thread_running(threads, when):
    seen, before = [], threading.active_count()

    def progress(report):
        seen.append(time.perf_counter())
        if len(seen) == when:
            raise ZeroDivisionError

    stage = Landscape(pause=1e-3, depth=10**6, nodes=4, pieces=4)
    limits = Limits(progress=progress, interval=0.01, time_limit=5.0)
    with pytest.raises(ZeroDivisionError):
        maximise(stage, START, rel_gap=1e-12, limits=limits, threads=threads)
    assert time.perf_counter() - seen[-1] < 0.5
    assert threading.active_count() == before


@pytest.mark.clock
def test_what_a_stage_raises_arrives():
    class Broken(Landscape):
        def search(self, nodes, task, work):
            if nodes[:, stages.CELL].min() < 0.25:
                raise ZeroDivisionError
            return super().search(nodes, task, work)

    before, began = threading.active_count(), time.perf_counter()
    stage = Broken(pause=1e-3, depth=10**6, nodes=4, pieces=4)
    with pytest.raises(ZeroDivisionError):
        maximise(stage, START, rel_gap=1e-12, limits=Limits(time_limit=5.0), threads=2)
    assert time.perf_counter() - began < 1.0
    assert threading.active_count() == before


def test_a_known_incumbent_prunes():
    plain = maximise(Landscape(depth=5), START, rel_gap=1e-4, limits=Limits())
    helped = maximise(Landscape(depth=5), (BEST, BEST_X), rel_gap=1e-4, limits=Limits())
    assert (helped.certificate.saving, helped.solution) == (BEST, BEST_X)
    assert helped.certificate.cells < plain.certificate.cells
    poor = maximise(Landscape(), (-np.inf, None), rel_gap=1e-6, limits=Limits())
    assert poor.solution == pytest.approx(BEST_X, abs=1e-3)


def test_better_incumbents_are_improved_once_each_and_only_they():
    stage = Landscape()
    found = maximise(stage, START, rel_gap=1e-4, limits=Limits())
    assert stage.offered == sorted(set(stage.offered))
    assert stage.offered[0] > START[0]
    assert stage.offered[-1] == found.certificate.saving
    leap = Landscape(to_best=True)
    found = maximise(leap, START, rel_gap=1e-4, limits=Limits())
    assert (found.certificate.saving, found.solution, len(leap.offered)) == (BEST, BEST_X, 1)


def test_cells_that_cannot_be_split_stay_in_the_bound():
    found = maximise(Landscape(smallest=1 / 64), START, rel_gap=1e-9, limits=Limits())
    proof = found.certificate
    assert (proof.ended_by, proof.closed) == ("resolution", False)
    assert BEST < proof.saving_bound <= BEST + 30 / 64
    assert proof.saving >= BEST - 30 / 128
    assert np.min(proof.visited[:, 3]) == 1 / 64
    assert_honest(found)
    coarse = maximise(Landscape(smallest=1 / 64), START, rel_gap=0.5, limits=Limits())
    assert (coarse.certificate.ended_by, coarse.certificate.closed) == ("gap", True)


def test_phases_are_worked_on_in_order_and_the_largest_bounds_first():
    stage = Landscape(phases=2, nodes=1, pieces=1)
    maximise(stage, START, rel_gap=1e-3, limits=Limits())
    phases = [phase for phase, _ in stage.order]
    assert phases == sorted(phases)
    assert set(phases) == {0, 1}
    last = [bound for phase, bound in stage.order if phase == 1]
    assert last == sorted(last, reverse=True)


def test_a_node_of_a_lower_phase_that_turns_up_late_comes_first():
    class Late(Landscape):
        def search(self, nodes, task, work):
            outcome = super().search(nodes, task, work)
            if nodes[0, stages.PHASE] == 1 and len(self.order) == 12:  # falls back to phase 0
                outcome.open[:, stages.PHASE] = 0
            return outcome

    stage = Late(phases=2, nodes=1, pieces=1)
    found = maximise(stage, START, rel_gap=1e-4, limits=Limits())
    assert_honest(found)
    phases = [phase for phase, _ in stage.order]
    assert phases[:12][-1] == 1
    assert phases[12] == 0


def test_a_loose_part_does_not_loosen_the_bound():
    found = maximise(Landscape(slope=1e6), START, rel_gap=1e-9, limits=Limits(node_limit=50))
    assert found.certificate.saving_bound == 50.0


def test_nothing_to_gain_closes_at_once():
    class Flat(Landscape):
        def roots(self):
            return np.array([[0.0, 0.0, 0.0, 1.0]])

        def search(self, nodes, task, work):
            return Outcome(nodes[:0])

    found = maximise(Flat(), (0.0, "any"), rel_gap=1e-9, limits=Limits())
    proof = found.certificate
    assert (proof.ended_by, proof.saving, proof.saving_bound, found.solution) == ("gap", 0.0, 0.0, "any")


@pytest.mark.parametrize("node_limit", [3_000, None])
def test_history_and_record_stay_short(monkeypatch, node_limit):
    monkeypatch.setattr(driver, "MAX_HISTORY", 20)
    monkeypatch.setattr(driver, "MAX_VISITED", 50)
    found = maximise(Landscape(nodes=2, pieces=1), START, rel_gap=1e-6, limits=Limits(node_limit=node_limit))
    proof = found.certificate
    assert 5 <= len(proof.history) <= 21
    assert tuple(proof.history[-1][1:]) == (proof.saving, proof.saving_bound)
    assert len(proof.visited) == 50
    assert np.all(np.diff(proof.history[:, 0]) >= 0)
