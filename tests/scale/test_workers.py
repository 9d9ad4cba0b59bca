"""Workers that die, that answer at length, and that must not outlive anybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tear3d.errors import WorkerError
from tear3d.scale.many import register_many
from tests.scale import tasks


def children() -> set[int]:
    """Processes below this one that are alive."""
    return {
        child.pid
        for child in psutil.Process().children(recursive=True)
        if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    }


@pytest.fixture(autouse=True)
def _nothing_is_left_behind():
    before = children()
    yield
    assert children() <= before


def test_a_killer_fails_after_two_lives_and_the_others_are_solved():
    problems = [{"value": value} for value in range(6)]
    problems[2] = {"value": "killer"}
    outcomes = list(register_many(problems, function=tasks.kill_when_told, processes=2))
    assert [outcome.status for outcome in outcomes] == ["done", "done", "failed", "done", "done", "done"]
    assert isinstance(outcomes[2].error, WorkerError)
    assert "SIGKILL" in str(outcomes[2].error)
    assert outcomes[2].seconds > 0.0


def test_a_problem_whose_worker_was_killed_once_is_solved(tmp_path):
    problems = [{"marker": str(tmp_path / str(k)), "value": k} for k in range(4)]
    outcomes = list(register_many(problems, function=tasks.die_once, processes=2))
    assert [outcome.result for outcome in outcomes] == [0, 1, 2, 3]


def test_a_second_life_is_spent_alone(tmp_path):
    problems = [{"folder": str(tmp_path), "value": k, "killer": k == 1} for k in range(3)]
    outcomes = list(register_many(problems, function=tasks.die_of_company, processes=3))
    assert [outcome.result for outcome in outcomes] == [0, 1, 2]


def test_a_worker_killed_in_the_middle_of_its_answer():
    (outcome,) = register_many([{}], function=tasks.die_speaking, processes=1)
    assert isinstance(outcome.error, WorkerError)


def test_a_worker_killed_from_outside():
    outcomes = register_many([{"value": k, "wait": 0.3} for k in range(6)], function=tasks.echo, processes=2)
    first = next(outcomes)
    os.kill(first.result[2], signal.SIGKILL)
    assert [outcome.result[0] for outcome in outcomes] == [1, 2, 3, 4, 5]


def test_large_answers_and_large_problems_do_not_block_each_other():
    outcomes = register_many([{"count": 2_000_000}] * 6, function=tasks.large, processes=2)
    assert [len(outcome.result) for outcome in outcomes] == [2_000_000] * 6
    value = tasks.large(2_000_000)
    outcomes = register_many([{"value": value}] * 6, function=tasks.echo, processes=2)
    assert [outcome.result[0][-1] for outcome in outcomes] == [value[-1]] * 6


def test_what_is_printed_is_no_answer(capfd):
    assert [outcome.result for outcome in register_many([{"value": 1}] * 2, function=tasks.speak, processes=1)] == [
        1,
        1,
    ]
    assert "raw" in capfd.readouterr().err


def test_to_close_early_ends_the_processes_at_once():
    outcomes = register_many([{"value": 0}, *[{"value": 1, "wait": 60.0}] * 5], function=tasks.echo, processes=2)
    next(outcomes)
    began = time.perf_counter()
    outcomes.close()
    assert time.perf_counter() - began < 10.0


_LONG = """
import sys; sys.path[:] = {path!r}
from tear3d.scale.many import register_many
from tests.scale import tasks
problems = [{{"value": k, "wait": 0.0 if k < 2 else 60.0}} for k in range(4)]
outcomes = register_many(problems, function=tasks.echo, processes=2)
try:
    print(next(outcomes).result[2], next(outcomes).result[2], flush=True)
    next(outcomes)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    {end}
"""


@pytest.mark.parametrize(
    ("number", "end"), [(signal.SIGKILL, ""), (signal.SIGINT, ""), (signal.SIGINT, "outcomes.close()")]
)
def test_workers_end_with_their_parent(number, end):
    code = _LONG.format(path=sys.path, end=end)
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        workers = {int(word) for word in parent.stdout.readline().split()}
        running = {child.pid for child in psutil.Process(parent.pid).children()}
        assert running
        parent.send_signal(number)
        parent.wait(30)
        if number == signal.SIGINT:
            assert parent.stdout.read() == "interrupted\n"
        until = time.perf_counter() + 30.0
        while any(alive(pid) for pid in workers | running):
            assert time.perf_counter() < until
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_nothing_grows_over_many_iterations():
    """In an interpreter of its own: clusters of other tests come and go in this one."""
    code = (
        "import time, psutil; from tear3d.scale.many import register_many; from tests.scale import tasks\n"
        "def once():\n"
        "    given = [{'value': k} for k in range(5)]\n"
        "    found = register_many(given, function=tasks.kill_when_told, processes=2)\n"
        "    assert [outcome.result for outcome in found] == [0, 1, 2, 3, 4]\n"
        "    return settled(psutil.Process().num_threads), settled(psutil.Process().num_fds)\n"
        "def settled(count):\n"  # a thread that was joined may take a moment to leave the system
        "    return min((count(), time.sleep(0.02))[0] for _ in range(25))\n"
        "print(once() and {once() for _ in range(5)})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("(") == 1, found.stdout
