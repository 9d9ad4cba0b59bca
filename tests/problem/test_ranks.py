"""Ranks against sorting."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.ranks import FEW, load, median, medians, nine_tenths, ranked, typical
from tests import naive

load()


@given(st.integers(0, 10_000), st.integers(1, 700), st.sampled_from(["normal", "ties", "equal", "wide", "narrow"]))
@settings(max_examples=200, deadline=None)
def test_the_ranked_value_is_that_of_the_sorted_numbers(seed, n, kind):
    rng = np.random.default_rng(seed)
    values = {
        "normal": rng.normal(size=n),
        "ties": rng.integers(0, 5, n).astype(float),
        "equal": np.full(n, 0.1),
        "wide": rng.normal(size=n) * 10.0 ** rng.uniform(-150, 150, n),
        "narrow": 5e-324 * rng.integers(0, 9, n),
    }[kind]
    rank = int(rng.integers(n))
    assert ranked(values, rank) == naive.ranked(values, rank)
    assert median(values) == np.median(values)
    assert nine_tenths(values) == np.quantile(values, 0.9, method="lower")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_sorted(bad):
    values = np.random.default_rng(0).normal(size=3 * FEW)
    values[5] = bad
    first = float(np.min(values, where=np.isfinite(values), initial=np.inf))
    assert ranked(values, 0) == (bad if bad < 0.0 else first)


def test_columns_strided_numbers_and_none():
    points = np.random.default_rng(1).normal(size=(300, 3))
    np.testing.assert_array_equal(medians(points), np.median(points, axis=0))
    assert median(points[::2, 1]) == np.median(points[::2, 1])
    assert np.isnan(median(np.empty(0)))


def test_input_is_checked_before_anything_is_compiled(tmp_path):
    code = """
import tear3d
from numba.core import event
from tear3d.problem.pairs import Pairs
class Heard(event.Listener):
    def on_start(self, event): raise SystemExit("compiled " + event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Heard())
p = tear3d.synthetic.make_problem(1000, outlier_ratio=0.5, seed=1)
Pairs.of(p.source, p.target, p.noise_bound)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_typical_bounds_are_positive():
    assert typical(np.array([0.0, 3.0, 0.0, 1.0, 2.0])) == 2.0
    assert typical(np.array([0.5])) == 0.5
