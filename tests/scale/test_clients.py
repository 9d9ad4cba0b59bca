"""The same on the executors of others: threads, processes, a Dask cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.scale.many import register_many
from tests.scale import tasks
from tests.scale.test_many import made


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="pip install 'tear3d[cluster]' for Dask")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    ) as running:
        yield running


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


def test_threads_and_functions_that_do_not_travel():
    with ThreadPoolExecutor(2) as executor:
        outcomes = list(register_many([{"value": k} for k in range(5)], function=lambda value: -value, client=executor))
        assert [outcome.result for outcome in outcomes] == [0, -1, -2, -3, -4]
        assert [outcome.status for outcome in register_many([{}, 3], client=executor)] == ["failed", "failed"]
        assert executor.submit(int, "3").result() == 3  # it was not ours to end


def test_futures_need_no_more_than_a_result():
    class Later:
        def __init__(self, function, arguments):
            self.result = lambda: function(*arguments)

    class Executor:
        def submit(self, function, *arguments):
            return Later(function, arguments)

    problems = [{"value": k} for k in range(5)]
    outcomes = register_many(problems, function=tasks.plain, client=Executor(), in_flight=2)
    assert next(outcomes).result == 0
    assert [outcome.result for outcome in outcomes] == [1, 2, 3, 4]
    unfinished = register_many(problems, function=tasks.plain, client=Executor())
    next(unfinished)
    unfinished.close()


def test_processes_that_break_fail_what_they_had_and_then_the_call():
    problems = [{"value": value} for value in (0, "killer", 2)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        outcomes = register_many(problems, function=tasks.kill_when_told, client=executor, in_flight=1)
        assert [next(outcomes).status, next(outcomes).status] == ["done", "failed"]
        with pytest.raises(BrokenProcessPool):
            next(outcomes)


def test_an_early_end_cancels_what_has_not_begun():
    with ThreadPoolExecutor(1) as executor:
        problems = [{"value": k, "wait": 0.2} for k in range(50)]
        outcomes = register_many(problems, function=tasks.echo, client=executor, in_flight=50)
        next(outcomes)
        began = time.perf_counter()
        outcomes.close()
        executor.shutdown()
        assert time.perf_counter() - began < 5.0


def test_dask_gives_the_same_bits(client):
    problems = list(made(4))
    outcomes = list(register_many([*problems, {"source": 3}], client=client))
    assert [outcome.status for outcome in outcomes] == ["optimal"] * 4 + ["failed"]
    for problem, outcome in zip(problems, outcomes[:4], strict=True):
        expected = tear3d.register(**problem)
        np.testing.assert_array_equal(outcome.result.transformation, expected.transformation)
        assert outcome.result.certificate.gap == expected.certificate.gap


def test_equal_problems_are_solved_each_on_its_own(client):
    results = [outcome.result for outcome in register_many([{"wait": 0.2}] * 4, function=tasks.echo, client=client)]
    assert len(results) == 4
    assert len({pid for *_, pid in results}) == 2


def test_a_worker_of_dask_is_killed_and_every_problem_is_solved(client):
    outcomes = register_many([{"value": k, "wait": 0.3} for k in range(12)], function=tasks.echo, client=client)
    first = next(outcomes)
    os.kill(first.result[2], signal.SIGKILL)
    assert [outcome.result[0] for outcome in outcomes] == list(range(1, 12))


def test_large_problems_travel_quietly(client, recwarn):
    value = np.ones(3_000_000)
    (outcome,) = register_many([{"value": value}], function=tasks.echo, client=client)
    np.testing.assert_array_equal(outcome.result[0], value)
    assert not [warning for warning in recwarn if "large graph" in str(warning.message)]


def test_an_asynchronous_client_is_refused():
    distributed = pytest.importorskip("distributed", reason="pip install 'tear3d[cluster]' for Dask")

    class Asynchronous(distributed.Client):
        asynchronous = True

        def __init__(self):
            pass

        def __del__(self):
            pass

    with pytest.raises(InputError, match="asynchronous"):
        register_many([], client=Asynchronous())
