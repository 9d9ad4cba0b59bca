"""The search with the sharp bounds ends where it is told to, honest about its gap."""

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.prove.row.points import TooLate, pack_points
from tear3d.prove.row.solve import solve_row
from tests import naive
from tests.prove.bounds.cases import row_problem as problem_of
from tests.prove.pose.test_limits import Watched
from tests.prove.row.sharp_cases import each, row_problem, saving, sharp


@pytest.fixture(scope="module")
def hard():
    """A row problem that takes far longer than the limits below."""
    x, y, _, w, r, t = row_problem(20_000, 5, outliers=0.99, general=False)
    return x, y, np.array([0.05]), w, r, t


def ended(hard, limits, start=None):
    x, y, xi, w, r, t = hard
    best = naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), r, t, "tear")
    begin = (r, t) if start is None else start
    at_start = naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), begin[0], begin[1], "tear")
    found = sharp(x, y, xi, w, incumbent=begin, rel_gap=1e-6, limits=limits, threads=2)
    assert not found.certificate.closed
    assert found.certificate.saving >= at_start * (1.0 - 1e-12)
    assert found.certificate.saving == pytest.approx(saving(hard, found.solution), rel=1e-9)
    assert found.certificate.saving_bound >= best
    return found


@pytest.mark.clock
def test_time_limit(hard):
    limits = Limits(time_limit=0.1)
    assert ended(hard, limits).certificate.ended_by == "time_limit"
    assert limits.seconds < 2.0


@pytest.mark.parametrize("nodes", [0, 1, 10, 200])
def test_node_limit(hard, nodes):
    limits = Limits(node_limit=nodes)
    found = ended(hard, limits, (np.array([1.0, 0.0, 0.0]), 0.0))
    assert found.certificate.ended_by == "node_limit"
    assert found.certificate.cells <= nodes


def stop_at(call, how):
    calls = []

    def progress(report):
        calls.append(report)
        assert report.saving <= report.saving_bound
        if len(calls) != call:
            return None
        if how is KeyboardInterrupt:
            raise KeyboardInterrupt
        return how

    return progress


@pytest.mark.parametrize("how", [False, KeyboardInterrupt])
@pytest.mark.parametrize("call", range(1, 9))
def test_interruption_wherever_the_callback_is_called(hard, call, how):
    limits = Limits(progress=stop_at(call, how), interval=0.0)
    try:
        assert ended(hard, limits).certificate.ended_by == "interrupted"
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
    assert limits.cancelled


def test_interruption_between_two_batches(hard):
    """The report when all roots are bounded is a call of the callback like any other."""

    def progress(report):
        if report.cells >= 96:
            raise KeyboardInterrupt

    try:
        found = ended(hard, Limits(progress=progress, interval=0.0))
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
    assert found.certificate.ended_by == "interrupted"
    assert found.certificate.cells == 96


@pytest.mark.clock
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("xi", [1e-3, 1e-6, 1e-20])
def test_few_pairs_and_tiny_thresholds_keep_the_time_limit(xi, general):
    """Ranges of t of many million thresholds: nothing but cells, and none of them cheap."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 3))
    thresholds = xi * rng.uniform(0.9, 1.1, 4) if general else np.array([xi])
    problem = x, rng.normal(size=4), thresholds, np.ones(1)
    sharp(*problem, incumbent=(np.eye(3)[0], 0.0), limits=Limits(node_limit=3))  # compiles
    limits = Limits(time_limit=0.3)
    found = sharp(*problem, incumbent=(np.eye(3)[0], 0.0), limits=limits)
    assert limits.seconds < 0.8
    assert found.certificate.ended_by in ("gap", "time_limit", "resolution")


@pytest.mark.parametrize("general", [False, True])
def test_points_that_were_not_packed_in_time_leave_an_honest_bound(general, monkeypatch):
    monkeypatch.setattr("tear3d.prove.row.solve.PIECE", 70)
    x, y, xi, w, r, t = row_problem(300, 2, general=general)
    options = Options.of(certify="rows", rel_gap=1e-2, threads=1)
    found = solve_row(problem_of(x, y, xi, w), (r, t), options, Limits(time_limit=0.0), "first row")
    total = float(np.sum(each(xi, 300) * each(w, 300)))
    assert found.certificate.ended_by == "time_limit"
    assert not found.certificate.closed
    assert found.certificate.saving == pytest.approx(saving((x, y, xi, w), found.solution), rel=1e-12)
    assert total <= found.certificate.saving_bound <= total * (1.0 + 1e-12)
    assert np.array_equal(found.solution, [*r, t])


def test_packing_looks_at_the_clock_and_may_go_on_after_all(monkeypatch):
    monkeypatch.setattr("tear3d.prove.row.points.SLICE", 50)
    x, y, xi, w, r, t = row_problem(300, 2)
    problem = problem_of(x, y, xi, w)
    for patience in range(12):
        limits = Watched(patience=patience)
        with pytest.raises(TooLate):
            pack_points(problem, limits=limits)
        assert len(limits.looks) == patience + 1
    whole, pieces = pack_points(problem._replace()), pack_points(problem, limits=Watched(patience=12))
    assert np.array_equal(whole.all.rows, pieces.all.rows)
    options = Options.of(certify="rows", rel_gap=1e-2, threads=1)
    found = solve_row(problem, (r, t), options, Watched(patience=3, once=True), "first row")  # time given back
    assert found.certificate.closed
