"""Problems, functions and programs that do what they should not: nothing hangs, and only they fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tear3d.errors import InputError, WorkerError
from tear3d.scale.many import register_many
from tests.scale import tasks
from tests.scale.test_many import made


class Broken(Mapping):
    def __getitem__(self, name):
        raise RuntimeError("nothing to read")

    def __iter__(self):
        return iter(["source"])

    def __len__(self):
        return 1


class NoLength:
    def __len__(self):
        raise RuntimeError("no length")


def test_problems_that_raise_when_looked_at_fail_alone():
    (good,) = made(1)
    problems = [good, Broken(), {**good, "source": NoLength(), "certify": "rows"}, good]
    outcomes = list(register_many(problems, processes=1))
    assert [outcome.status for outcome in outcomes] == ["optimal", "failed", "failed", "optimal"]
    assert "problem cannot be read (nothing to read)" in str(outcomes[1].error)
    assert isinstance(outcomes[2].error, InputError)
    assert str(outcomes[1]).startswith("problem 1: failed, ")
    assert str(outcomes[1]).endswith("InputError: " + str(outcomes[1].error))


@pytest.mark.parametrize("problems", [{"source": 1, "target": 2}, "problems.csv", b"x"])
def test_one_problem_is_not_taken_for_many(problems):
    with pytest.raises(InputError, match="expected an iterable of mappings, such as a list of dicts"):
        register_many(problems)


def test_a_function_may_read_its_input_and_finds_none():
    outcomes = register_many([{"value": k} for k in range(3)], function=tasks.read_input, processes=1)
    assert [outcome.result for outcome in outcomes] == [(k, "", b"") for k in range(3)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is set by what /proc tells")
def test_a_problem_that_does_not_fit_into_its_worker_is_tried_in_another():
    problems = [{"bytes_left": 64 << 20}, {"value": bytes(256 << 20)}, {}]
    first, large, after = register_many(problems, function=tasks.narrow, processes=1)
    assert large.error is None
    assert large.result[1] == 256 << 20
    assert first.result[0] != large.result[0] == after.result[0]


def test_an_answer_that_does_not_load_costs_no_worker():
    unreadable, *others = register_many([{}, {"value": 1}, {"value": 2}], function=tasks.unreadable, processes=1)
    assert isinstance(unreadable.error, WorkerError)
    assert str(unreadable.error) == "the result cannot be read: not here"
    assert [outcome.result[0] for outcome in others] == [1, 2]
    assert len({outcome.result[1] for outcome in others}) == 1


def test_paths_that_are_no_strings_do_not_stop_the_workers(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, Path("somewhere")])
    (outcome,) = register_many([{"value": 1}], function=tasks.plain, processes=1)
    assert outcome.result == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_does_not_end_the_workers_of_its_parent():
    code = (
        "import os; from tear3d.scale.many import register_many; from tests.scale import tasks\n"
        "given = [{'value': k, 'wait': 0.2} for k in range(6)]\n"
        "outcomes = register_many(given, function=tasks.echo, processes=2)\n"
        "pids = [next(outcomes).result[2]]\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    outcomes.close()\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "pids += [outcome.result[2] for outcome in outcomes]\n"
        "print(len(pids), len(set(pids)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "6 2\n", done.stderr  # none had to be started again


@pytest.mark.parametrize("seconds", [0.01, 0.03])
def test_ctrl_c_while_the_workers_start_is_quiet(seconds):
    code = (
        "import threading; from tear3d.scale.many import register_many; from tests.scale import tasks\n"
        "given = [{'wait': 60.0}] * 4\n"
        "print('begun', flush=True)\n"
        "try: list(register_many(given, function=tasks.echo, processes=2))\n"
        "except KeyboardInterrupt: print('interrupted', threading.active_count())"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        time.sleep(seconds)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        assert running.communicate(timeout=30) == ("interrupted 1\n", "")
    finally:
        running.kill()
        running.wait()
