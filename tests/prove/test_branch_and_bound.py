"""The search on mock problems whose optimum is known."""

import math
import time

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.prove import branch_and_bound
from tear3d.prove.branch_and_bound import Problem, maximise


def bumps(x):
    """A 1-D landscape on [0, 1] with several local maxima; Lipschitz constant below 30."""
    return 2.0 + math.sin(23 * x) + 0.5 * math.sin(5 * x)


NEAR_BEST = max((k / 10**4 for k in range(10**4 + 1)), key=bumps)
BEST_X = max(NEAR_BEST + np.linspace(-1e-4, 1e-4, 20_001), key=bumps)
BEST = bumps(BEST_X)


def interval_problem(slope=30.0, **changes):
    """Cells are (left, right); the bound is the middle's value plus slope times the half width."""
    parts = {
        "roots": [(0.0, 0.5), (0.5, 1.0)],
        "split": lambda c: [(c[0], (c[0] + c[1]) / 2), ((c[0] + c[1]) / 2, c[1])],
        "bound": lambda c: bumps((c[0] + c[1]) / 2) + slope * (c[1] - c[0]) / 2,
        "evaluate": lambda c: (bumps((c[0] + c[1]) / 2), (c[0] + c[1]) / 2),
        "size": lambda c: c[1] - c[0],
        "describe": lambda c: (c[0], c[1], 0.0, c[1] - c[0]),
    }
    return Problem(**{**parts, **changes})


@pytest.mark.parametrize("rel_gap", [1e-1, 1e-3, 1e-6])
def test_finds_the_known_optimum(rel_gap):
    limits = Limits()
    result = maximise(interval_problem(), rel_gap=rel_gap, limits=limits)
    assert result.ended_by == "gap"
    assert result.closed
    assert result.value <= BEST + 1e-12 <= result.bound
    assert result.bound - result.value <= rel_gap * result.value
    assert bumps(result.solution) == result.value
    assert result.cells == limits.cells > 2


def test_history_and_visited_tell_the_search():
    result = maximise(interval_problem(), rel_gap=1e-4, limits=Limits())
    seconds, value, bound = result.history.T
    assert np.all(np.diff(seconds) >= 0)
    assert np.all(np.diff(value) >= 0)
    assert np.all(np.diff(bound) <= 0)
    assert tuple(result.history[-1][1:]) == (result.value, result.bound)
    fates = result.visited[:, 5]
    assert len(result.visited) == result.cells
    split, leaves = result.visited[fates == 0], result.visited[fates > 0]
    assert len(leaves) == len(split) + 2
    assert np.sum(leaves[:, 3]) == pytest.approx(1.0)  # the leaves tile the domain
    np.testing.assert_allclose(result.visited[:, 3], 0.5 ** (result.visited[:, 4] + 1))


def test_same_result_for_any_number_of_threads():
    def evaluate(cell):
        time.sleep(1e-4 * (hash(cell) % 3))  # finish out of order
        middle = (cell[0] + cell[1]) / 2
        return bumps(middle), middle

    results = [
        maximise(interval_problem(evaluate=evaluate), rel_gap=1e-5, limits=Limits(), threads=threads)
        for threads in (1, 2, 5)
    ]
    for other in results[1:]:
        assert (other.value, other.solution, other.bound, other.cells) == (
            results[0].value,
            results[0].solution,
            results[0].bound,
            results[0].cells,
        )
        np.testing.assert_array_equal(other.visited, results[0].visited)


@pytest.mark.parametrize("node_limit", [0, 1, 2, 3, 17, 40])
def test_node_limit_keeps_an_honest_bound(node_limit):
    limits = Limits(node_limit=node_limit)
    result = maximise(interval_problem(ceiling=5.0), rel_gap=1e-9, limits=limits)
    assert result.ended_by == "node_limit"
    assert not result.closed
    assert result.cells <= node_limit
    assert BEST <= result.bound <= 5.0
    if node_limit < 2:
        assert (result.solution, result.bound) == (None, 5.0)


def test_time_limit_keeps_an_honest_bound():
    def slow(cell):
        time.sleep(0.02)
        return bumps((cell[0] + cell[1]) / 2) + 15 * (cell[1] - cell[0])

    started = time.perf_counter()
    result = maximise(interval_problem(bound=slow), rel_gap=1e-9, limits=Limits(time_limit=0.1))
    assert time.perf_counter() - started < 1.0
    assert (result.ended_by, result.closed) == ("time_limit", False)
    assert result.bound >= BEST
    none = maximise(interval_problem(), rel_gap=0.1, limits=Limits(time_limit=0.0))
    assert (none.solution, none.bound, none.cells) == (None, math.inf, 0)


def test_a_known_incumbent_prunes():
    plain = maximise(interval_problem(), rel_gap=1e-4, limits=Limits())
    helped = maximise(interval_problem(), rel_gap=1e-4, limits=Limits(), incumbent=(BEST, "given"))
    assert helped.solution == "given"
    assert helped.value == BEST
    assert helped.cells <= plain.cells
    better = maximise(interval_problem(), rel_gap=1e-6, limits=Limits(), incumbent=(0.1, "poor"))
    assert better.solution == pytest.approx(BEST_X, abs=1e-3)


def test_polish_is_used_only_when_it_improves():
    to_best = maximise(interval_problem(polish=lambda v, x: (BEST, BEST_X)), rel_gap=1e-4, limits=Limits())
    assert (to_best.value, to_best.solution) == (BEST, BEST_X)
    worse = maximise(interval_problem(polish=lambda v, x: (0.0, None)), rel_gap=1e-4, limits=Limits())
    assert worse.solution is not None


def test_resolution_ends_with_the_gap_that_is_left():
    result = maximise(interval_problem(), rel_gap=1e-9, limits=Limits(), resolution=1 / 64)
    assert (result.ended_by, result.closed) == ("resolution", False)
    assert np.min(result.visited[:, 3]) == 1 / 64
    assert BEST < result.bound <= BEST + 30 / 64
    assert result.value >= BEST - 30 / 128


def test_resolution_does_not_matter_when_the_gap_closes_first():
    result = maximise(interval_problem(), rel_gap=0.5, limits=Limits(), resolution=1e-3)
    assert (result.ended_by, result.closed) == ("gap", True)


def test_cells_that_cannot_be_split_stay_in_the_bound():
    stuck = interval_problem(split=lambda c: [] if c[1] - c[0] < 0.1 else interval_problem().split(c))
    result = maximise(stuck, rel_gap=1e-9, limits=Limits())
    assert (result.ended_by, result.closed) == ("resolution", False)
    assert result.bound >= BEST


def test_ctrl_c_returns_the_incumbent_with_an_honest_bound():
    calls = 0

    def interrupted(cell):
        nonlocal calls
        calls += 1
        if calls == 30:
            raise KeyboardInterrupt
        return interval_problem().bound(cell)

    for threads in (1, 2):
        calls, limits = 0, Limits()
        result = maximise(interval_problem(bound=interrupted), rel_gap=1e-9, limits=limits, threads=threads)
        assert (result.ended_by, result.closed) == ("interrupted", False)
        assert limits.cancelled
        assert result.solution is not None
        assert result.value <= BEST <= result.bound < math.inf


def test_progress_can_stop_the_search():
    seen = []

    def progress(report):
        seen.append(report)
        return len(seen) < 3

    limits = Limits(progress=progress, interval=0.0)
    result = maximise(interval_problem(), rel_gap=1e-9, limits=limits, stage="mock")
    assert (result.ended_by, len(seen)) == ("interrupted", 3)
    assert seen[-1].stage == "mock"
    assert (seen[-1].saving, seen[-1].saving_bound) == (result.value, result.bound)


def test_cells_are_counted_across_stages():
    limits = Limits(node_limit=30)
    first = maximise(interval_problem(), rel_gap=0.5, limits=limits)
    second = maximise(interval_problem(), rel_gap=1e-9, limits=limits)
    assert first.ended_by == "gap"
    assert first.cells + second.cells == limits.cells <= 30


def test_a_loose_child_does_not_loosen_the_bound():
    def bound(cell):  # tight at the roots, nonsense below
        return 4.0 if cell[1] - cell[0] == 0.5 else 100.0

    result = maximise(interval_problem(bound=bound), rel_gap=1e-9, limits=Limits(node_limit=50))
    assert result.bound == 4.0


def test_nothing_to_gain_closes_at_once():
    flat = Problem(roots=[0], split=lambda c: [], bound=lambda c: 0.0, evaluate=lambda c: (0.0, c))
    result = maximise(flat, rel_gap=0.0, limits=Limits(), incumbent=(0.0, "any"))
    assert (result.ended_by, result.value, result.bound, result.solution) == ("gap", 0.0, 0.0, "any")


def test_history_stays_short(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "MAX_HISTORY", 20)
    result = maximise(interval_problem(describe=None), rel_gap=1e-9, limits=Limits(node_limit=4_000))
    assert 5 <= len(result.history) <= 20
    assert tuple(result.history[-1][1:]) == (result.value, result.bound)
    assert result.visited.shape == (0, 6)
