"""Pairs on the workers of a cluster: the bits of one machine, and nothing is left there."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
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


def test_nothing_is_left_on_the_workers(client):
    """Without waiting for a collection of garbage: sums and chunks are large."""
    given = problem(30_000, 0.9)
    source, target = (points.persist() for points in on_workers(given))
    distributed.wait([source, target])
    before = client.run_on_scheduler(known)
    gc.disable()
    try:
        tear3d.register(source, target, noise_bound=given.noise_bound, client=client)
        until = time.monotonic() + 10.0
        while (after := client.run_on_scheduler(known)) != before and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        gc.enable()
    assert after == before


def known(dask_scheduler):
    return sorted(map(str, dask_scheduler.tasks))


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


def pieces_of_chunks(given, size=SIZE, chunk=CHUNK):
    source, target = map(DaskRows, on_workers(given, chunk))
    return Pieces.of(source, target, np.array([given.noise_bound]), np.ones(1), size)
