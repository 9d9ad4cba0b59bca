from __future__ import annotations

import subprocess
import sys

import numba
import pytest

from tear3d.cli.loading import TESTED

pytestmark = pytest.mark.skipif(
    not numba.__version__.startswith(TESTED) or numba.config.DISABLE_JIT, reason="kernels are loaded as Numba does"
)

_CODE = """
import sys
import numpy as np
from numba import njit
from tear3d.cli.loading import load_bare
from tear3d.features.tree import Tree

points = np.random.default_rng(0).normal(size=(100, 3))
{before}
load_bare()
assert np.array_equal(Tree(points).nearest(points)[1], np.arange(100))
print("scipy.linalg" in sys.modules)
{after}
"""


def _run(before: str = "", after: str = "") -> str:
    code = _CODE.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_in_the_cache_needs_no_compiler():
    _run()  # now it is there
    assert _run().split() == ["False"]


def test_what_is_not_there_is_compiled_before_and_after():
    first = "print(njit(lambda a: np.sort(a)[0])(points[:, 0]) == points[:, 0].min())"
    last = "print(njit(lambda a: np.linalg.norm(a))(points) > 0.0, len({str(i): i for i in range(3)}))"
    assert _run(before=first).split()[0] == "True"
    assert _run(after=last).split()[1:] == ["True", "3"]
