"""How fast this machine compiles."""

from __future__ import annotations

import pytest

from tear3d.problem import pace


@pytest.fixture(autouse=True)
def not_asked_yet():
    pace.slowness.cache_clear()
    yield
    pace.slowness.cache_clear()


def test_a_sample_takes_milliseconds():
    assert 1e-4 < pace.sample_seconds() < 0.5


@pytest.mark.parametrize(("times", "expected"), [(1.0, 1.0), (3.0, 3.0), (1e3, pace.SLOWEST), (0.0, 1 / pace.SLOWEST)])
def test_slowness_is_in_seconds_of_the_reference(times, expected, monkeypatch):
    monkeypatch.setattr(pace, "sample_seconds", lambda: times * pace.REFERENCE)
    assert pace.slowness() == pytest.approx(expected)
    monkeypatch.setattr(pace, "sample_seconds", lambda: 2.0)
    assert pace.slowness() == pytest.approx(expected), "asked once"
