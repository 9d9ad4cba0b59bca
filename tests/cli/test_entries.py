"""Kernels that only other kernels call get no entry for Python, and do not go to the cache; all can be called."""

from __future__ import annotations

import platform

import numba
import numpy as np
import pytest
from numba import njit

from tear3d.cli.entries import entries_for_calls


def _inner(x):
    return 2.0 * x


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A kernel, another one that it calls, and what of them is in the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    inner = njit(cache=True)(_inner)

    @njit(cache=True)
    def outer(x):
        return inner(x) + 1.0

    return inner, outer, lambda: {file.name.split("-")[0].split(".")[-1] for file in tmp_path.rglob("*.nbi")}


def test_what_is_part_of_another_kernel_is_not_kept(made):
    inner, outer, kept = made
    with entries_for_calls():
        assert outer(1.0) == 3.0
    assert kept() == {"outer"}
    assert inner(1.0) == 2.0  # it was forgotten: what has no entry could not be called
    assert kept() == {"_inner", "outer"}


def test_what_is_called_is_kept(made):
    inner, outer, kept = made
    with entries_for_calls():
        assert inner(1.0) == 2.0
        assert outer(1.0) == 3.0
        assert inner(1) == 2.0
        assert inner(1.0) == 2.0
    assert kept() == {"_inner", "outer"}


def test_what_was_in_the_cache_before_can_be_called(made):
    inner, _, _ = made
    assert inner(1.0) == 2.0
    again = njit(cache=True)(_inner)

    @njit
    def outer(x):
        return again(x) - 1.0

    with entries_for_calls():
        assert outer(1.0) == 1.0
        assert again(1.0) == 2.0
    assert again.stats.cache_hits


def _scale(values, out):
    for i in range(values.size):
        out[i] = 2.5 * values[i]


def _packed(kernel):
    """Whether its machine code multiplies several numbers at once, where that can be read."""
    readable = platform.machine() in ("x86_64", "AMD64")
    return not readable or any("mulpd" in code for code in kernel.inspect_asm().values())


def test_loops_of_inner_kernels_are_vectorised_in_the_outer_one():
    """They are made better there only."""
    scale = njit(_scale)

    def run(values, out):
        scale(values, out)
        return out.sum()

    quick, usual = njit(run), njit(run)
    values = np.arange(1001.0)
    with entries_for_calls():
        total = quick(values, np.empty(1001))
    assert total == usual(values, np.empty(1001))
    assert _packed(quick)
    assert _packed(usual)
