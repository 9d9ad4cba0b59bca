"""The search for candidates ends when it is told to, with a pose, and is the same on any number of threads."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from tear3d.find import seekers
from tear3d.find.seekers import plan
from tear3d.lab.synthetic import make_problem
from tear3d.problem.limits import Limits, ctrl_c_cancels
from tear3d.problem.objective import saving_and_count
from tear3d.problem.options import Options
from tests.find.cases import find, find_all, is_right
from tests.problem.cases import pairs_of

MEANINGLESS = pairs_of(make_problem(20_000, 1.0, seed=24))
"""Nothing to be found: the search would take many seconds."""


def is_a_pose(found, pairs, loss):
    np.testing.assert_allclose(found.pose.rotation @ found.pose.rotation.T, np.eye(3), atol=1e-9)
    assert np.isfinite(found.pose.translation).all()
    assert (found.saving, found.num_inliers) == saving_and_count(pairs, found.pose, loss)
    return True


def stopped_at_once(kind):
    if kind == "time_limit":
        return Limits(time_limit=0.0)
    if kind == "progress":
        return Limits(progress=lambda report: False)
    limits = Limits()
    limits.cancel()
    return limits


@pytest.mark.clock
@pytest.mark.parametrize("n", [3, 500, 20_000, 30_000])
@pytest.mark.parametrize(
    ("kind", "reason"), [("time_limit", "time_limit"), ("cancelled", "interrupted"), ("progress", "interrupted")]
)
def test_stopped_at_once_it_returns_a_pose_and_says_how_it_ended(n, kind, reason):
    pairs = pairs_of(make_problem(n, 0.5, seed=n))
    began = time.perf_counter()
    found = find(pairs, limits=stopped_at_once(kind))
    assert time.perf_counter() - began < 0.5
    assert found.ended_by == reason
    assert is_a_pose(found, pairs, Options().the_loss)


def test_the_node_limit_does_not_end_the_search_for_candidates():
    p = make_problem(1000, 0.9, seed=1)
    pairs = pairs_of(p)
    found = find(pairs, node_limit=0)
    assert found.ended_by == "hits"
    assert is_right(found, pairs, p)


@pytest.mark.clock
@pytest.mark.parametrize("threads", [1, 2])
def test_the_time_limit_is_kept(threads):
    began = time.perf_counter()
    found = find(MEANINGLESS, time_limit=0.3, threads=threads)
    assert 0.3 <= time.perf_counter() - began < 0.8
    assert found.ended_by == "time_limit"
    assert found.pivots > 0


@pytest.mark.clock
@pytest.mark.parametrize("threads", [1, 2])
def test_the_callback_can_stop_it(threads):
    seen = []

    def progress(report):
        seen.append(time.perf_counter())
        return len(seen) < 4

    found = find(MEANINGLESS, progress=progress, threads=threads)
    assert time.perf_counter() - seen[-1] < 0.5
    assert (found.ended_by, len(seen)) == ("interrupted", 4)


@pytest.mark.clock
@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_callback_raises_arrives_and_leaves_no_thread_running(threads):
    seen, before = [], threading.active_count()

    def progress(report):
        seen.append(time.perf_counter())
        if len(seen) == 4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        find(MEANINGLESS, progress=progress, threads=threads)
    assert time.perf_counter() - seen[-1] < 0.5
    assert threading.active_count() == before


@pytest.mark.clock
def test_ctrl_c_returns_what_was_found():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    limits = Limits(time_limit=10.0)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        began = time.perf_counter()
        with ctrl_c_cancels(limits):
            timer.start()
            found = find(MEANINGLESS, limits=limits, threads=2)
        assert time.perf_counter() - began < 0.8
        assert found.ended_by == "interrupted"
        assert is_a_pose(found, MEANINGLESS, Options().the_loss)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_threads_change_nothing_and_seeds_are_honoured():
    p = make_problem(4000, 0.995, seed=14)
    pairs = pairs_of(p)
    first, second, third = (find(pairs, threads=threads, seed=seed) for threads, seed in ((1, 0), (3, 0), (1, 1)))
    np.testing.assert_array_equal(first.pose.row, second.pose.row)
    assert (first.saving, first.pivots) == (second.saving, second.pivots)
    assert not np.array_equal(first.pose.row, third.pose.row)
    assert is_right(third, pairs, p)


def test_what_is_exhausted_and_what_is_found_again_and_again():
    assert find(pairs_of(make_problem(300, 1.0, seed=2))).ended_by == "exhausted"
    assert find(pairs_of(make_problem(300, 0.3, seed=2))).ended_by == "hits"


def test_reports_are_about_the_stage_and_its_ceiling():
    seen = []
    pairs = pairs_of(make_problem(2000, 0.99, seed=3))
    limits = Limits(progress=seen.append, interval=0.0)
    find_all(pairs, limits=limits, threads=2)
    assert {report.stage for report in seen} == {"candidates"}
    assert all(report.saving <= report.saving_bound for report in seen)
    savings = [report.saving for report in seen]
    assert savings == sorted(savings)


def test_rounds_grow_up_to_all_pairs():
    planned = list(plan(20_480))
    assert [r.pairs for r in planned] == sorted(r.pairs for r in planned)
    assert planned[-1].pairs == planned[-1].pivots == 20_480
    assert {r.pairs for r in plan(100)} == {100}


def test_fine_noise_bounds_are_sampled_in_float64():
    p = make_problem(50, 0.0, seed=4)
    for bound, dtype in ((2.0 * seekers.FINE, np.float32), (0.5 * seekers.FINE, np.float64)):
        pairs = pairs_of(p).take(np.arange(50))
        pairs = type(pairs)(**(vars(pairs) | {"xi": np.full(50, bound)}))
        rows = seekers.sample_rows(pairs, 13)
        assert (rows.dtype, rows.shape) == (dtype, (7, 16))
        np.testing.assert_allclose(rows[:3, :13].T, pairs.x[:13], rtol=1e-6)
        np.testing.assert_allclose(rows[6, :13], bound, rtol=1e-6)
