"""Limits: what ends a call, what it reports, and what Ctrl-C does."""

import os
import signal
import threading
import time

import pytest

from tear3d.problem.limits import Limits, Progress, ctrl_c_cancels, relative_gap


def test_relative_gap():
    assert relative_gap(10.0, 11.0) == pytest.approx(0.1)
    assert relative_gap(10.0, 10.0) == relative_gap(10.0, 9.0) == relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(0.0, 1.0) == float("inf")
    assert Progress("stage", 4.0, 5.0, 7, 0.1).gap == pytest.approx(0.25)


def test_nothing_ends_a_call_without_limits():
    limits = Limits()
    limits.cells = 10**12
    assert limits.exceeded() is None
    assert not limits.over()
    assert limits.cells_left() > 10**15


def test_the_clock():
    limits = Limits(time_limit=0.05)
    assert limits.exceeded() is None
    time.sleep(0.06)
    assert limits.over()
    assert limits.exceeded() == "time_limit"
    assert Limits(time_limit=0.0).exceeded() == "time_limit"


def test_cells():
    limits = Limits(node_limit=5)
    limits.cells = 3
    assert (limits.cells_left(), limits.exceeded()) == (2, None)
    limits.cells = 7
    assert (limits.cells_left(), limits.exceeded()) == (0, "node_limit")
    assert not limits.over()  # threads look at the clock only
    assert Limits(node_limit=0).exceeded() == "node_limit"


def test_cancelled_comes_first():
    limits = Limits(time_limit=0.0, node_limit=0)
    assert limits.exceeded() == "time_limit"
    limits.cancel()
    assert limits.over()
    assert limits.exceeded() == "interrupted"


def test_seconds_of_each_step_add_up():
    limits = Limits()
    for _ in range(2):
        with limits.timed("step"):
            time.sleep(0.02)
    with pytest.raises(ZeroDivisionError), limits.timed("other"):
        _ = 1 / 0
    assert 0.04 <= limits.laps["step"] <= limits.seconds
    assert set(limits.laps) == {"step", "other"}


def test_reports_are_not_more_frequent_than_asked_for():
    seen = []
    limits = Limits(progress=seen.append, interval=0.05)
    began = time.perf_counter()
    while time.perf_counter() - began < 0.2:
        limits.report("stage", 1.0, 2.0, 0.5)
    assert 2 <= len(seen) <= 6
    assert (seen[0].stage, seen[0].saving, seen[0].saving_bound, seen[0].done) == ("stage", 1.0, 2.0, 0.5)
    assert [r.seconds for r in seen] == sorted(r.seconds for r in seen)


@pytest.mark.parametrize(("answer", "cancelled"), [(False, True), (None, False), (True, False), (0, False)])
def test_only_false_stops(answer, cancelled):
    limits = Limits(progress=lambda report: answer)
    limits.report("stage", 0.0, 1.0)
    assert limits.cancelled == cancelled


def test_ctrl_c_in_the_callback_stops_and_other_exceptions_pass():
    def interrupted(report):
        raise KeyboardInterrupt

    limits = Limits(progress=interrupted)
    limits.report("stage", 0.0, 1.0)
    assert limits.exceeded() == "interrupted"
    with pytest.raises(ZeroDivisionError):
        Limits(progress=lambda report: 1 / 0).report("stage", 0.0, 1.0)


@pytest.fixture
def default_handler():
    """As in a fresh interpreter, whatever started the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def press_ctrl_c(after):
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def spin(limits, seconds):
    """Work until the limits end it, for some seconds at most; how long it took."""
    began = time.perf_counter()
    while not limits.over() and time.perf_counter() - began < seconds:
        time.sleep(0.005)
    return time.perf_counter() - began


@pytest.mark.clock
@pytest.mark.usefixtures("default_handler")
def test_ctrl_c_cancels_at_once_and_the_handler_is_restored():
    limits = Limits()
    with ctrl_c_cancels(limits):
        timer = press_ctrl_c(0.1)
        took = spin(limits, 5.0)
    timer.join()
    assert limits.exceeded() == "interrupted"
    assert took < 0.6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_a_second_ctrl_c_raises():
    limits = Limits()
    with ctrl_c_cancels(limits):
        signal.raise_signal(signal.SIGINT)
        assert limits.cancelled
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_the_handler_is_restored_after_an_exception():
    with pytest.raises(ZeroDivisionError), ctrl_c_cancels(Limits()):
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_one_block_inside_another_leaves_the_outer_in_charge():
    outer, inner = Limits(), Limits()
    with ctrl_c_cancels(outer):
        with ctrl_c_cancels(inner):
            signal.raise_signal(signal.SIGINT)
        assert (outer.cancelled, inner.cancelled) == (True, False)


@pytest.mark.usefixtures("default_handler")
def test_other_threads_install_nothing():
    seen = []

    def work():
        with ctrl_c_cancels(Limits()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.usefixtures("default_handler")
def test_a_handler_of_the_callers_own_is_respected():
    caught = []

    def own(number, frame):
        caught.append(number)

    signal.signal(signal.SIGINT, own)
    limits = Limits()
    with ctrl_c_cancels(limits):
        signal.raise_signal(signal.SIGINT)
    assert caught == [signal.SIGINT]
    assert not limits.cancelled
    assert signal.getsignal(signal.SIGINT) is own
