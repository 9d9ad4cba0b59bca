"""The crew: results in order, and whatever is raised is raised when all threads have stopped."""

import os
import signal
import threading
import time

import pytest

from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits, ctrl_c_cancels

SAFETY = 3.0
"""Seconds after which a test that hangs would end."""


def watched(**options):
    """Limits that are told of, so that the caller's thread does nothing but keep watch."""
    return Limits(progress=lambda progress: None, interval=0.02, **options)


def until_over(limits, stopped):
    def step(item, work):
        while not limits.over():
            time.sleep(0.005)
        stopped.append(item)
        return item

    return step


@pytest.mark.parametrize("limits", [Limits(), watched()])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_keep_the_order_of_the_items(threads, limits):
    def step(item, work):
        time.sleep(0.002 * (item % 3))  # finish out of order
        return item * item

    with Crew(threads, limits) as crew:
        assert crew.map(step, range(20)) == [k * k for k in range(20)]
        assert crew.map(step, []) == []
        assert crew.map(step, iter([5])) == [25]


def test_a_work_space_serves_one_step_at_a_time():
    made, busy = [], set()

    def workspace():
        made.append(len(made))
        return made[-1]

    def step(item, work):
        assert work not in busy
        busy.add(work)
        time.sleep(0.002)
        busy.remove(work)
        return work

    with Crew(3, Limits(), workspace) as crew:
        used = crew.map(step, range(30))
    assert made == [0, 1, 2]
    assert set(used) <= {0, 1, 2}


def test_the_caller_keeps_watch_meanwhile():
    ticks = []
    with Crew(2, watched()) as crew:
        crew.map(lambda item, work: time.sleep(0.1), range(2), lambda: ticks.append(threading.current_thread()))
    assert len(ticks) >= 2
    assert set(ticks) == {threading.current_thread()}


def test_the_caller_works_too_when_nobody_is_to_be_told():
    ticks, threads, before = [], set(), threading.active_count()

    def step(item, work):
        threads.add(threading.current_thread())
        time.sleep(0.01)

    with Crew(2, Limits(interval=0.02)) as crew:
        crew.map(step, range(12), lambda: ticks.append(threading.current_thread()))
        assert threading.active_count() == before + 1
    assert threading.current_thread() in threads
    assert len(threads) == 2
    assert 1 <= len(ticks) <= 3
    assert set(ticks) == {threading.current_thread()}


@pytest.mark.clock
def test_what_tick_raises_is_raised_after_all_threads_stopped():
    limits, stopped, before = watched(time_limit=SAFETY), [], threading.active_count()

    def tick():
        raise ZeroDivisionError

    began = time.perf_counter()
    with Crew(2, limits) as crew:
        with pytest.raises(ZeroDivisionError):
            crew.map(until_over(limits, stopped), range(2), tick)
        assert sorted(stopped) == [0, 1]
    assert limits.cancelled
    assert time.perf_counter() - began < 0.5
    assert threading.active_count() == before


@pytest.mark.clock
@pytest.mark.parametrize("raising", [0, 1])
@pytest.mark.parametrize("limits", [Limits, watched])
def test_what_a_step_raises_stops_the_others_at_once(limits, raising):
    limits, stopped, before = limits(time_limit=SAFETY), [], threading.active_count()
    patient, both = until_over(limits, stopped), threading.Barrier(2)

    def step(item, work):
        both.wait(SAFETY)
        if item == raising:
            raise ZeroDivisionError
        return patient(item, work)

    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError), Crew(2, limits) as crew:
        crew.map(step, range(2))
    assert time.perf_counter() - began < 0.5
    assert limits.cancelled
    assert stopped == [1 - raising]
    assert threading.active_count() == before


@pytest.mark.parametrize("limits", [Limits(), watched()])
def test_items_that_had_not_begun_are_dropped_after_an_exception(limits):
    begun = []

    def step(item, work):
        begun.append(item)
        if item == 0:
            raise ZeroDivisionError
        time.sleep(0.01)

    with pytest.raises(ZeroDivisionError), Crew(2, limits) as crew:
        crew.map(step, range(1000), lambda: None)
    assert len(begun) < 100


def test_what_the_items_raise_is_raised():
    def items():
        yield 0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Crew(1, Limits()) as crew:
        crew.map(lambda item, work: item, items())


@pytest.mark.clock
def test_real_ctrl_c_reaches_the_threads():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    limits, stopped = Limits(time_limit=SAFETY), []
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        began = time.perf_counter()
        with ctrl_c_cancels(limits), Crew(2, limits) as crew:
            timer.start()
            assert crew.map(until_over(limits, stopped), range(2)) == [0, 1]
        assert time.perf_counter() - began < 0.6
        assert limits.exceeded() == "interrupted"
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("limits", [Limits, watched])
def test_a_second_ctrl_c_raises_when_the_threads_have_stopped(limits):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alone, limits, stopped = limits is Limits, limits(time_limit=SAFETY), []

    def slow_to_stop(item, work):
        while not limits.over():
            time.sleep(0.005)
        time.sleep(0.3)
        stopped.append(item)

    timers = [threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)) for after in (0.1, 0.2)]
    try:
        with ctrl_c_cancels(limits), Crew(2, limits) as crew:
            for timer in timers:
                timer.start()
            with pytest.raises(KeyboardInterrupt):
                crew.map(slow_to_stop, range(2), lambda: None)
            # The caller's own item is where it was interrupted.
            assert sorted(stopped) in ([[0], [1]] if alone else [[0, 1]])
    finally:
        for timer in timers:
            timer.join()
        signal.signal(signal.SIGINT, before)
