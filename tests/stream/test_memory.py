"""A limit on memory holds: the kernel sees to it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.stream.shares import IN_MEMORY, Shares
from tests.stream.support import problem

PAIRS, LIMIT, BEYOND = 3_000_000, 160 << 20, 64 << 20
"""Beyond the limit: stacks of threads, compiled code."""
CODE = """
import json, resource, sys
import numpy as np, tear3d
small = tear3d.synthetic.make_problem(20_000, outlier_ratio=0.9, seed=0)
tear3d.register(small.source, small.target, noise_bound=small.noise_bound, time_limit=5.0)
path, bound, limit, beyond = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

def held(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))

before = held("VmData")
resource.setrlimit(resource.RLIMIT_DATA, 2 * (before + limit + beyond,))
pairs = tear3d.open_pairs(path)
try:
    found = tear3d.register(pairs.source, pairs.target, noise_bound=bound, time_limit=90.0, memory_limit=limit)
    answer = {"status": found.status, "pose": found.transformation.tolist(), "gap": found.certificate.gap}
except MemoryError:
    answer = {"status": "no memory"}
print(json.dumps(answer | {"peak": held("VmHWM"), "data": held("VmData") - before}))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    given = problem(PAIRS, 0.99, cloud="ellipsoid")
    path = tmp_path_factory.mktemp("large") / "pairs.npy"
    np.save(path, np.hstack([given.source, given.target]).astype(np.float32))
    return path, given


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux: limits on memory are its own")
def test_a_limit_that_the_kernel_enforces(file):
    path, given = file
    assert IN_MEMORY * PAIRS > LIMIT
    command = [sys.executable, "-c", CODE, str(path), str(given.noise_bound), str(LIMIT), str(BEYOND)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    answer = json.loads(run.stdout)
    assert answer["status"] == "optimal"
    assert tear3d.metrics.rotation_error(np.array(answer["pose"]), given.transformation) < 0.5
    command[-2] = str(2**40)  # all in memory, and the same limit of the kernel: that it is one
    command[-1] = str(LIMIT + BEYOND - 2**40)
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout)["status"] == "no memory"


def test_shares_add_up():
    for limit in (128 << 20, 1 << 30, 3 << 30, 1 << 36):
        shares = Shares.of(limit)
        assert shares.threads >= 1
        assert shares.room <= limit // 2
        assert 1 << 15 <= shares.piece <= 1 << 20


@pytest.mark.parametrize("limit", [0, 1000, -5, "a lot", 2.5, float("nan")])
def test_limits_that_are_none(limit):
    given = problem(100, 0.0)
    with pytest.raises(InputError, match="memory_limit"):
        tear3d.register(given.source, given.target, noise_bound=1.0, memory_limit=limit)


def test_what_fits_is_searched_in_memory():
    given = problem(5_000)
    plain = tear3d.register(given.source, given.target, noise_bound=given.noise_bound)
    found = tear3d.register(given.source, given.target, noise_bound=given.noise_bound, memory_limit=1 << 30)
    assert np.array_equal(found.transformation, plain.transformation)
    assert "first look" not in found.seconds


def test_what_does_not_is_read_in_pieces():
    given = problem(1_500_000, 0.9, cloud="ellipsoid")
    how = {"noise_bound": given.noise_bound, "memory_limit": 128 << 20}
    found = tear3d.register(given.source, given.target, certify=False, **how)
    assert found.status == "uncertified"
    assert "first look" in found.seconds
    assert tear3d.metrics.rotation_error(found.transformation, given.transformation) < 0.1
    with pytest.raises(InputError, match="certify='rows' needs all pairs in memory"):
        tear3d.register(given.source, given.target, certify="rows", **how)
    with pytest.raises(InputError, match="method='paper' needs all pairs in memory"):
        tear3d.register(given.source, given.target, method="paper", **how)
