"""Pairs on the workers of a cluster: the bits of one machine, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import tear3d
from tear3d.errors import ClusterError, InputError
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.stream.inputs import DaskRows
from tear3d.stream.local import Local
from tear3d.stream.pieces import Pieces
from tear3d.stream.solve import solve_streamed
from tests.stream.support import ROOM, problem

distributed = pytest.importorskip("distributed", reason="needs distributed")
array = pytest.importorskip("dask.array", reason="needs dask")

from tear3d.stream.cluster import Cluster  # noqa: E402

SIZE, CHUNK = 4_000, 12_000


@pytest.fixture
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as found:
        yield found


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


def on_workers(given, chunk=CHUNK):
    return (array.from_array(points, chunks=(chunk, 3)) for points in (given.source, given.target))


def solve(client, given, limits=None, size=SIZE):
    options = Options.of(threads=1)
    runner = Cluster(client, *on_workers(given), (np.array([given.noise_bound]), np.ones(1)), size)
    return solve_streamed(runner, runner.edges, options, limits or options.limits(), ROOM)


def here(given, size=SIZE):
    """With the same pieces."""
    pieces, options = pieces_of_chunks(given, size), Options.of(threads=2)
    return solve_streamed(Local(pieces, 2), pieces.edges, options, options.limits(), ROOM)


def same(one, other):
    return (
        np.array_equal(one.transformation, other.transformation)
        and np.array_equal(one.inlier_mask, other.inlier_mask)
        and np.array_equal(one.covariance, other.covariance)
        and (one.saving, one.certificate.gap, one.certificate.cells, one.status)
        == (other.saving, other.certificate.gap, other.certificate.cells, other.status)
    )


def test_bits_are_those_of_one_machine(client):
    given = problem(40_000, 0.9)
    found = solve(client, given)
    assert found.status == "optimal"
    assert same(found, here(given))


def test_a_worker_that_is_killed_changes_nothing(client, cluster):
    given = problem(60_000, 0.95, cloud="ellipsoid")
    expected = here(given)
    pids = [worker.pid for worker in cluster.workers.values()]

    def kill():
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    assert all(pids)
    killed = threading.Event()

    def progress(report):
        if report.stage == "pose" and not killed.is_set():
            killed.set()
            threading.Thread(target=kill).start()

    limits = Limits(progress=progress, interval=0.05)
    found = solve(client, given, limits)
    assert killed.is_set()
    assert same(found, expected)


def test_register(client):
    given = problem(30_000, 0.9)
    source, target = on_workers(given)
    found = tear3d.register(source, target, noise_bound=given.noise_bound, client=client)
    assert found.status == "optimal"
    assert tear3d.metrics.rotation_error(found.transformation, given.transformation) < 0.5
    xi = array.full(30_000, given.noise_bound, chunks=5_000)
    again = tear3d.register(source, target, noise_bound=xi, weights=xi, client=client, memory_limit=2**28)
    assert again.status == "optimal"
    with pytest.raises(InputError, match="expected Dask arrays"):
        tear3d.register(given.source, given.target, noise_bound=1.0, client=client)
    with pytest.raises(InputError, match="expected a distributed"):
        tear3d.register(source, target, noise_bound=1.0, client="tcp://nobody")
    with pytest.raises(InputError, match="needs all pairs in memory"):
        tear3d.register(source, target, noise_bound=1.0, client=client, certify="rows")


def test_a_chunk_that_cannot_be_made_is_no_lost_cluster(client):
    given = problem(30_000, 0.9)
    source, target = on_workers(given)
    broken = source.map_blocks(missing, dtype=float, meta=np.empty((0, 3)))
    with pytest.raises(FileNotFoundError, match=r"no such scan\.npy"):
        tear3d.register(broken, target, noise_bound=given.noise_bound, client=client)


def missing(block):
    raise FileNotFoundError("no such scan.npy")


def test_a_time_limit_ends_it(client):
    given = problem(200_000, 0.99)
    limits = Limits(time_limit=None, proof_limit=1.0)
    began = time.perf_counter()
    found = solve(client, given, limits, size=50_000)
    assert found.status == "time_limit"
    assert found.certificate.gap > 0.01
    assert time.perf_counter() - began < 60.0


@contextmanager
def outside():
    """A scheduler and a worker in processes of their own: the client, and the scheduler's process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    commands = [
        ["scheduler", "--host", address, "--no-dashboard", "--no-jupyter"],
        ["worker", address, "--nthreads", "1", "--no-dashboard"],
    ]
    processes = [subprocess.Popen([sys.executable, "-m", "dask", *command], **quiet) for command in commands]
    try:
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield client, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Doomed(Cluster):
    """Loses its scheduler at the beginning of a pass."""

    def __init__(self, scheduler, number, *arguments):
        super().__init__(*arguments)
        self.scheduler, self.number = scheduler, number

    def run(self, work, limits, tick=None):
        if self.passes + 1 == self.number:
            self.scheduler.send_signal(signal.SIGKILL)
        return super().run(work, limits, tick)


@pytest.mark.parametrize("number", [2, 5])
def test_the_scheduler_lost(tmp_path, number):
    """A clear error; and a later call, here without any cluster, goes on from the checkpoint if there is one."""
    given, path = problem(60_000, 0.95, cloud="ellipsoid"), tmp_path / "proof.npz"
    options, room = Options.of(threads=1), 2**22
    numbers = (np.array([given.noise_bound]), np.ones(1))
    with outside() as (client, scheduler):
        runner = Doomed(scheduler, number, client, *on_workers(given), numbers, SIZE)
        with pytest.raises(ClusterError, match="the same checkpoint goes on"):
            solve_streamed(runner, runner.edges, options, options.limits(), room, path)
    assert path.exists() == (number == 5)
    whole = Local(pieces_of_chunks(given), 2)
    plain = solve_streamed(whole, whole.pieces.edges, options, options.limits(), room)
    again = Local(pieces_of_chunks(given), 2)
    found = solve_streamed(again, again.pieces.edges, options, options.limits(), room, path)
    assert found.status == plain.status == "optimal"
    assert not path.exists()
    assert found.saving == plain.saving
    assert again.passes < whole.passes if number == 5 else again.passes == whole.passes


def pieces_of_chunks(given, size=SIZE):
    source, target = map(DaskRows, on_workers(given))
    return Pieces.of(source, target, np.array([given.noise_bound]), np.ones(1), size)
