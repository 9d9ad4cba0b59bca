"""Workers and schedulers killed at any moment: the same answer, or a clear error and a checkpoint to go on from."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tear3d.errors import ClusterError
from tear3d.problem.kernels import needed_in_pieces
from tear3d.problem.options import Options
from tear3d.stream.local import Local
from tear3d.stream.solve import solve_streamed
from tests.stream.support import problem

dask = pytest.importorskip("dask", reason="needs dask")
distributed = pytest.importorskip("distributed", reason="needs distributed")

from tear3d.stream.cluster import Cluster  # noqa: E402
from tests.stream.kills import forked, outside  # noqa: E402
from tests.stream.test_cluster import on_workers, pieces_of_chunks, same  # noqa: E402

KILLS, SEED = 20, 12
CHUNK, SIZE, ROOM = 5_000, 2_500, 1 << 18
"""Little room, so that a second has some twenty passes."""


@pytest.fixture(scope="module")
def given():
    return problem(20_000, 0.98, cloud="ellipsoid")


@pytest.fixture(scope="module")
def expected(given):
    """Undisturbed: the result, the number of passes, the seconds."""
    return here(given)


def here(given, path=None):
    runner, options = Local(pieces_of_chunks(given, SIZE, CHUNK), 2), Options.of(threads=1)
    began = time.perf_counter()
    found = solve_streamed(runner, runner.pieces.edges, options, options.limits(), ROOM, path)
    return found, runner.passes, time.perf_counter() - began


def there(client, given, path=None):
    runner = Cluster(client, *on_workers(given, CHUNK), (np.array([given.noise_bound]), np.ones(1)), SIZE)
    options = Options.of(threads=1)
    try:
        runner.compile(needed_in_pieces(options.certify))
        return solve_streamed(runner, runner.edges, options, options.limits(), ROOM, path)
    finally:
        runner.close()


class Killer:
    """Kills a process after some seconds, whatever the others are doing."""

    def __init__(self, pid: int, after: float) -> None:
        self.killed = False
        self._timer = threading.Timer(after, self._kill, (pid,))
        self._timer.start()

    def _kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        self.killed = True

    def join(self) -> None:
        self._timer.cancel()
        self._timer.join()


@pytest.mark.slow
def test_workers_killed_at_any_moment(given, expected):
    """Twenty, one in a call; the nanny brings them back."""
    plain, passes, _ = expected
    assert plain.status == "optimal"
    assert passes >= 10
    rng, kills = np.random.default_rng(SEED), 0
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    forked()
    settings = {"worker.multiprocessing-method": "forkserver", "deploy.lost-worker-timeout": "10 minutes"}
    chosen = dask.config.set({f"distributed.{name}": value for name, value in settings.items()})
    with chosen, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        there(client, given)
        began = time.perf_counter()
        assert same(there(client, given), plain)
        length = time.perf_counter() - began
        for attempt in range(2 * KILLS):
            client.wait_for_workers(2, timeout=60)
            pids = sorted(client.run(os.getpid).values())
            after = float(rng.uniform(0.0, length))
            killer = Killer(int(rng.choice(pids)), after)
            found = there(client, given)
            killer.join()
            print(f"call {attempt}: killed {killer.killed} after {after:.2f} of {length:.2f} s")
            assert same(found, plain)
            kills += killer.killed
            if kills == KILLS:
                break
    assert kills == KILLS


@pytest.mark.slow
def test_schedulers_killed_at_any_moment(given, expected, tmp_path):
    """Twenty; what each left is gone on with, here without any cluster."""
    plain, passes, _ = expected
    rng, kills, resumed = np.random.default_rng(SEED), 0, 0
    for _ in range(2):  # the first of all may have to compile
        with outside() as (client, _):
            began = time.perf_counter()
            assert same(there(client, given), plain)
            length = time.perf_counter() - began
    for attempt in range(2 * KILLS):
        path = tmp_path / f"{attempt}.npz"
        after = float(rng.uniform(0.0, length))
        with outside() as (client, scheduler):
            killer = Killer(scheduler.pid, after)
            try:
                found, error = there(client, given, path), ""
            except ClusterError as lost:
                found, error = None, str(lost)
            killer.join()
        assert [file.name for file in tmp_path.iterdir()] in ([], [path.name])
        kept = path.exists()
        print(f"call {attempt}: killed {killer.killed} after {after:.2f} of {length:.2f} s, checkpoint {kept}")
        if found is not None:  # at the very end, when nobody was needed any more
            assert same(found, plain)
            assert not kept
        else:
            assert "the same checkpoint goes on" in error
            kills += 1
            _goes_on(given, path, plain, passes)
            resumed += kept
        if kills == KILLS:
            break
    assert kills == KILLS
    assert resumed >= KILLS // 4


def _goes_on(given, path: Path, plain, passes: int) -> None:
    kept = path.exists()
    found, further, _ = here(given, path)
    assert not path.exists()
    assert further < passes if kept else further == passes
    assert found.status == plain.status
    assert found.saving == plain.saving
    assert np.array_equal(found.transformation, plain.transformation)
    assert np.array_equal(found.inlier_mask, plain.inlier_mask)
