"""The table of tiny clouds counts what it says."""

import numpy as np

from benchmarks import tiny


def test_copies_are_recognised_and_far_too_few_points_are_not():
    success, off = tiny.error("bumpy ball", tiny.KINDS[0], 100, 0)
    assert success
    assert off < 0.02
    assert not tiny.error("bumpy ball", tiny.KINDS[2], 50, 0)[0]


def test_rows_tell_right_from_wrong(monkeypatch):
    answers = [(True, 0.01), (True, 0.03), (True, 0.2), (False, 0.01), (False, np.inf)]
    monkeypatch.setattr(tiny, "error", lambda surface, kind, count, seed: answers[seed])
    row = tiny.row("teapot", tiny.KINDS[0], 100, 5)
    assert row == ["copies", "teapot", "100", "2 of 5", "1", "1", "3.0 %"]
