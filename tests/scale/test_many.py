"""Many problems: the same answers as one by one, in order, and failures that are results."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError, MissingExtraError, WorkerError
from tear3d.scale.many import Outcome, register_many
from tear3d.scale.task import own_arguments, portable
from tests.scale import tasks


def made(count, pairs=300):
    for seed in range(count):
        problem = tear3d.synthetic.make_problem(pairs, 0.7, seed=seed)
        yield {"source": problem.source, "target": problem.target, "noise_bound": problem.noise_bound}


def test_the_answers_are_those_of_register_bit_for_bit_in_order():
    problems = list(made(6))
    outcomes = list(register_many(iter(problems), processes=2))
    assert [outcome.index for outcome in outcomes] == list(range(6))
    for problem, outcome in zip(problems, outcomes, strict=True):
        expected = tear3d.register(**problem)
        assert outcome.error is None
        assert outcome.success
        assert outcome.status == expected.status == "optimal"
        assert outcome.seconds > 0.0
        np.testing.assert_array_equal(outcome.result.transformation, expected.transformation)
        np.testing.assert_array_equal(outcome.result.inlier_mask, expected.inlier_mask)
        assert outcome.result.certificate.gap == expected.certificate.gap
        assert outcome.result.message == expected.message
        for array in (outcome.result.transformation, outcome.result.inlier_mask, outcome.result.covariance):
            assert not array.flags.writeable


def test_bad_problems_are_failed_outcomes_and_the_others_are_solved():
    (good,) = made(1)
    bad = [
        "no mapping",
        {1: 2},
        {**good, "nois_bound": 1.0},
        {**good, "target": good["target"][:-1]},
        {**good, "progress": print},
        {"source": good["source"]},
        {**good, "certify": np.ones(3)},
        {**good, "seed": itertools.count()},
        {**good, "source": (row for row in good["source"])},
        {**good, "noise_bound": lambda: 1.0},
    ]
    outcomes = list(register_many([good, *bad, good], processes=1))
    assert [outcome.status for outcome in outcomes] == ["optimal", *["failed"] * len(bad), "optimal"]
    assert not any(outcome.success or outcome.result for outcome in outcomes[1:-1])
    errors = [outcome.error for outcome in outcomes[1:-1]]
    kinds = [InputError, InputError, TypeError, InputError, InputError, TypeError, InputError]
    assert [type(error) for error in errors[:7]] == kinds
    assert isinstance(errors[8], InputError)
    for error, words in zip(errors, ("mapping", "key 1", "nois_bound", "target", "progress", "target"), strict=False):
        assert words in str(error)
    assert "Traceback" in errors[3].__notes__[0]


def test_an_iterable_is_taken_only_as_far_as_in_flight_allows():
    taken = 0

    def endless():
        nonlocal taken
        for value in itertools.count():
            taken += 1
            yield {"value": value, "wait": 0.05}

    outcomes = register_many(endless(), function=tasks.echo, processes=2, in_flight=3)
    assert taken == 0
    for yielded, outcome in enumerate(itertools.islice(outcomes, 12)):
        assert outcome.result[0] == outcome.index == yielded
        assert yielded < taken <= yielded + 3
    outcomes.close()


def test_what_is_done_is_yielded_while_a_slow_iterable_has_more():
    def slow():
        for value in range(100):
            if seen:
                return
            yield {"value": value}
            time.sleep(0.2)

    seen = []
    for outcome in register_many(slow(), function=tasks.echo, processes=1, in_flight=100):
        seen.append(outcome.index)
    assert 0 < len(seen) < 100


def test_what_the_iterable_raises_comes_after_the_outcomes_before_it():
    def broken():
        yield {"value": 0, "wait": 0.1}
        yield {"value": 1}
        raise OSError("the disk is gone")

    outcomes = register_many(broken(), function=tasks.echo, processes=1)
    assert [next(outcomes).result[0], next(outcomes).result[0]] == [0, 1]
    with pytest.raises(OSError, match="the disk is gone"):
        next(outcomes)
    assert list(register_many([])) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"in_flight": 0}, "in_flight is 0"),
        ({"in_flight": "many"}, "in_flight is 'many'"),
        ({"processes": 0}, "processes is 0"),
        ({"processes": 1.5}, "processes is 1.5"),
        ({"client": object()}, "client is of type object"),
        ({"processes": 2, "client": ThreadPoolExecutor(1)}, "pass one of them"),
        ({"function": 3}, "function is of type int"),
        ({"function": lambda value: value}, "function cannot be sent"),
    ],
)
def test_arguments_are_checked_at_the_call(arguments, words):
    with pytest.raises(InputError, match=words):
        register_many([], **arguments)


def test_problems_must_be_iterable():
    with pytest.raises(InputError, match="problems is of type int: expected an iterable"):
        register_many(3)


def test_each_problem_has_one_thread_unless_it_says_otherwise():
    outcomes = register_many([{"value": 1}, {"value": 2, "threads": 5}], function=tasks.echo, processes=1)
    assert [outcome.result[1] for outcome in outcomes] == [1, 5]
    assert own_arguments(tear3d.register) == own_arguments(tear3d.register_clouds) == {"threads": 1}
    assert own_arguments(tasks.plain) == {}


def test_what_functions_of_ones_own_return():
    (outcome,) = register_many([{"value": 3}], function=tasks.plain, processes=1)
    assert (outcome.result, outcome.status, outcome.success) == (3, "done", True)
    assert "3" not in repr(outcome).replace(repr(outcome.seconds), "")  # results may be large
    with pytest.raises(AttributeError):
        outcome.index = 2


def test_the_status_between_clouds_is_that_of_the_matches():
    class Matches:
        status = "time_limit"

    class Found:
        result, success = Matches, False

    outcome = Outcome(0, Found, None, 1.0)
    assert (outcome.status, outcome.success) == ("time_limit", False)


def test_exceptions_travel_or_are_told():
    missing = portable(MissingExtraError("laspy", "las", "LAS"))
    assert isinstance(missing, MissingExtraError)
    assert "tear3d[las]" in str(missing)
    outcomes = list(register_many([{"value": 0}] * 2, function=tasks.odd, processes=1))
    assert [type(outcome.error) for outcome in outcomes] == [WorkerError] * 2
    assert str(outcomes[0].error) == "OddError: this and that"
    (outcome,) = register_many([{}], function=tasks.unsendable, processes=1)
    assert isinstance(outcome.error, TypeError)
    (outcome,) = register_many([{}], function=tasks.leave, processes=1)
    assert isinstance(outcome.error, SystemExit)


def test_warnings_arrive_in_the_log_of_the_caller(caplog):
    list(register_many([{"value": 7}], function=tasks.warn, processes=1))
    assert "problem 0: something about 7" in caplog.messages


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import tear3d\n"
        "problem = tear3d.synthetic.make_problem(200, 0.5)\n"
        "given = dict(source=problem.source, target=problem.target, noise_bound=problem.noise_bound)\n"
        "print([outcome.status for outcome in tear3d.register_many([given] * 3)])\n"
        "def mine(value): return value\n"
        "try: tear3d.register_many([], function=mine)\n"
        "except tear3d.InputError as error: print(error)\n"
    )
    command = [sys.executable, "-c", f"import sys, runpy; sys.path[:] = {sys.path!r}; runpy.run_path({str(script)!r}, "]
    command[-1] += "run_name='__main__')"
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    first, second = done.stdout.splitlines()
    assert first == "['optimal', 'optimal', 'optimal']", done.stderr
    assert second.startswith("function is mine of the script that runs")
