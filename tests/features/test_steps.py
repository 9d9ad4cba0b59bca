"""Steps are timed, reported, and stopped by the limits."""

import pickle

import pytest

from tear3d.errors import StoppedError
from tear3d.features.steps import Steps, part_of
from tear3d.problem.limits import Limits


def test_start_and_end_are_always_reported_and_ticks_now_and_then():
    seen = []
    steps = Steps(Limits(progress=lambda report: seen.append((report.stage, report.done)), interval=1000.0))
    for name in ("first", "second"):
        with steps(name) as tick:
            tick(0.5)
    assert seen == [("first", 0.0), ("first", 1.0), ("second", 0.0), ("second", 1.0)]
    assert set(steps.seconds) == {"first", "second"}


def test_every_tick_is_reported_without_an_interval():
    seen = []
    with Steps(Limits(progress=lambda report: seen.append(report.done), interval=0.0))("step") as tick:
        part_of(tick, 0.5, 1.0)(0.5)
    assert seen == [0.0, 0.75, 1.0]


@pytest.mark.parametrize(
    ("limits", "message", "ended"),
    [
        (Limits(time_limit=0.0), "the time limit of 0 s was reached at the step 'step'", "time_limit"),
        (Limits(cancelled=True), "interrupted at the step 'step'", "interrupted"),
        (Limits(progress=lambda report: False), "stopped by progress, which returned False, at", "interrupted"),
    ],
)
def test_a_tick_after_the_end_says_what_ended_the_step(limits, message, ended):
    with pytest.raises(StoppedError, match=message) as caught, Steps(limits)("step") as tick:
        tick(0.5)
    assert caught.value.ended == ended
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    assert copied.ended == ended


def test_a_step_that_does_not_tick_is_not_stopped():
    with Steps(Limits(time_limit=0.0))("step"):
        pass


def test_cells_do_not_end_a_step():
    with Steps(Limits(node_limit=0))("step") as tick:
        tick(0.5)


def test_the_time_of_a_step_that_fails_is_noted():
    steps = Steps(Limits())
    with pytest.raises(ZeroDivisionError), steps("step"):
        raise ZeroDivisionError
    assert "step" in steps.seconds
