"""Compiling is said, counted apart, and paid for by no time limit."""

import time

from numba.core import event

from tear3d.problem.compiling import COMPILING, compiled_apart
from tear3d.problem.limits import Limits


def compile_for(seconds, within=()):
    with event.trigger_event("numba:compile", data={}):
        time.sleep(seconds)
        for inner in within:
            compile_for(inner)


def test_it_is_a_step_of_its_own(caplog):
    limits = Limits(time_limit=0.05)
    with compiled_apart(limits):
        with limits.timed("search"):
            compile_for(0.05, within=(0.02, 0.03))
            compile_for(0.1)
        assert not limits.over()
    assert 0.2 <= limits.laps[COMPILING] < 0.5
    assert limits.laps["search"] < 0.05
    assert len(caplog.records) == 1
    assert "compiling" in caplog.text


def test_nothing_is_said_when_nothing_is_compiled(caplog):
    limits = Limits()
    with compiled_apart(limits), limits.timed("search"):
        pass
    compile_for(0.0)
    assert list(limits.laps) == ["search"]
    assert not caplog.records
