"""Compiling is said, counted apart, and paid for by no time limit."""

import time

import pytest
from numba.core import event

from tear3d.problem import kernels
from tear3d.problem.compiling import COMPILING, compiled_apart
from tear3d.problem.limits import Limits


def compile_for(seconds, within=()):
    with event.trigger_event("numba:compile", data={}):
        time.sleep(seconds)
        for inner in within:
            compile_for(inner)


@pytest.mark.clock
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


@pytest.mark.clock
def test_cold_kernels_are_compiled_before_and_no_limit_pays(caplog, monkeypatch):
    compiled = []

    def compile_groups(names):
        compiled.extend(names)
        time.sleep(0.1)
        return []

    monkeypatch.setattr(kernels, "cold", lambda names: [name for name in names if name not in compiled])
    monkeypatch.setattr(kernels, "can_share", lambda: True)
    monkeypatch.setattr(kernels, "compile_groups", compile_groups)
    laps = []
    for _ in range(2):
        limits = Limits(time_limit=0.05)
        with compiled_apart(limits, ("votes", "pivots")):
            assert not limits.over()
        laps.append(limits.laps)
    assert 0.1 <= laps[0][COMPILING] < 0.5
    assert laps[1] == {}
    assert compiled == ["votes", "pivots"]
    assert len(caplog.records) == 1
    assert f"about {kernels.expected_seconds(compiled)} seconds" in caplog.text


def test_what_other_processes_cannot_compile_this_one_does_and_says_so(caplog, monkeypatch):
    monkeypatch.setattr(kernels, "_settled", set())
    monkeypatch.setattr(kernels, "_in_cache", lambda group: False)
    monkeypatch.setattr(kernels, "can_share", lambda: False)
    with compiled_apart(Limits(), ("votes",)):
        compile_for(0.01)
    with compiled_apart(Limits(), ("votes",)):
        pass
    assert len(caplog.records) == 1
    assert f"compiling votes in this process, for about {kernels.expected_seconds(['votes'], 1)} seconds" in caplog.text
