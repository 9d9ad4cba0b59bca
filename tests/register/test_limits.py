"""Limits hold, and whatever stops a call leaves the best so far."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import tear3d
from tear3d.synthetic import make_problem
from tests.register.support import check_fields, is_right, solve


@pytest.fixture(scope="module")
def hard():
    return make_problem(20_000, 0.985, seed=0)


@pytest.mark.parametrize(
    ("options", "status"),
    [({"time_limit": 0.1}, "time_limit"), ({"node_limit": 10}, "node_limit"), ({"time_limit": 0.0}, "time_limit")],
)
def test_limits_return_the_incumbent(hard, options, status):
    result = solve(hard, rel_gap=1e-12, threads=2, **options)
    assert result.status == status
    check_fields(result, 20_000)
    assert not result.certificate.closed
    assert result.certificate.gap > 1e-12
    for stage in result.certificate.stages:
        assert stage.cells <= options.get("node_limit", 10**9)


def test_a_tiny_limit_is_named_and_not_called_no_consensus(hard):
    result = solve(hard, time_limit=0.0)
    assert result.status == "time_limit"
    assert "time limit" in result.message
    assert "chance" in result.message
    assert not result.success


def took(call):
    started = time.perf_counter()
    return call(), time.perf_counter() - started


PATIENCE = 1.0
"""The promise is half a second beyond the limit; the rest is for a busy machine."""


@pytest.mark.clock
@pytest.mark.parametrize("certify", ["pose", "rows"])
def test_a_time_limit_holds_for_four_pairs(certify):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    tear3d.register(x, y, noise_bound=1e-3, certify=certify, time_limit=0.01)  # compiles
    result, seconds = took(
        lambda: tear3d.register(x, y, noise_bound=1e-3, certify=certify, time_limit=0.5, rel_gap=1e-9)
    )
    assert seconds < 0.5 + PATIENCE
    assert result.transformation.shape == (4, 4)


@pytest.mark.slow
@pytest.mark.parametrize("certify", ["pose", "rows", False])
def test_a_time_limit_holds_for_two_million_pairs(certify):
    """While they are packed, too, which takes about as long as the second limit."""
    given = make_problem(2_000_000, 0.994, cloud="ellipsoid", seed=0)
    solve(given, certify=certify, time_limit=1.0)  # compiles
    for limit in (0.1, 0.2, 1.0):
        result, seconds = took(lambda limit=limit: solve(given, certify=certify, time_limit=limit, rel_gap=1e-12))
        assert seconds < limit + PATIENCE
        assert result.transformation.shape == (4, 4)
        assert result.status == "time_limit" or not certify
        for stage in result.certificate.stages:
            assert stage.ended_by == "time_limit"
            assert stage.saving < stage.saving_bound


@pytest.mark.parametrize("stage", ["pose", "first row"])
@pytest.mark.parametrize("how", ["false", "interrupt"])
def test_the_callback_can_stop_the_search(hard, how, stage):
    stages = []

    def progress(report):
        stages.append(report.stage)
        if report.stage != stage:
            return None
        if how == "interrupt" and stages.count(stage) == 1:
            raise KeyboardInterrupt
        return False

    try:
        result = solve(hard, rel_gap=1e-12, certify="pose" if stage == "pose" else "rows", progress=progress)
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
    assert stage in stages
    assert result.status == "interrupted"
    assert is_right(result, hard)
    assert np.isfinite(result.certificate.gap)
    assert result.certificate.gap > 1e-12
    assert result.certificate.stages[0].ended_by == "interrupted"


@pytest.fixture(scope="module")
def hopeless():
    """All pairs wrong: the search for candidates takes seconds."""
    return make_problem(20_000, 1.0, seed=1)


def stop_at_first(report):
    return False


@pytest.mark.clock
def test_the_callback_can_stop_the_candidates(hopeless):
    result, seconds = took(lambda: solve(hopeless, progress=stop_at_first))
    assert seconds < 0.5 + PATIENCE
    assert result.status == "interrupted"
    assert not result.success
    check_fields(result, 20_000)


def test_a_false_of_numpy_stops_too(hopeless):
    assert solve(hopeless, progress=lambda report: np.bool_(False)).status == "interrupted"


def test_a_node_limit_is_no_limit_without_a_proof(hard):
    assert solve(hard, certify=False, node_limit=0).status == "uncertified"


class OwnError(Exception):
    pass


@pytest.mark.clock
@pytest.mark.parametrize("stage", ["candidates", "first row", "pose"])
def test_an_exception_of_the_callback_arrives_at_once(hard, stage):
    raised = []

    def progress(report):
        if report.stage == stage:
            raised.append(time.perf_counter())
            raise OwnError

    with pytest.raises(OwnError):
        solve(hard, rel_gap=1e-12, certify="rows" if stage == "first row" else "pose", progress=progress)
    assert time.perf_counter() - raised[0] < PATIENCE
    assert len(raised) == 1


@pytest.mark.clock
@pytest.mark.parametrize("which", ["hopeless", "hard"])
@pytest.mark.parametrize("certify", ["pose", "rows"])
@pytest.mark.parametrize("delay", [0.02, 0.3])
def test_ctrl_c_returns_the_best_so_far(which, certify, delay, request):
    given = request.getfixturevalue(which)
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, interrupt)
    timer.start()
    try:
        result = solve(given, rel_gap=1e-12, certify=certify)
    finally:
        timer.join()
    assert time.perf_counter() - sent[0] < PATIENCE
    assert result.status == "interrupted"
    check_fields(result, 20_000)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
