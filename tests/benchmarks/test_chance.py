"""The table of `benchmarks.chance`: every kind of made-up problem has a row, and shares are shares."""

import numpy as np
from scipy.spatial.distance import pdist
from typer import Typer
from typer.testing import CliRunner

from benchmarks import chance, nothing
from benchmarks.scans import Scan
from tests.bumpy import bumpy_cloud


def test_every_kind_has_a_row():
    app = Typer()
    app.command()(chance.main)
    result = CliRunner().invoke(app, ["--count", "2"], env={"COLUMNS": "140"})
    assert result.exit_code == 0
    printed = [line.split() for line in result.stdout.splitlines() if "%" in line]
    titles = [f"made up: {kind}" for kind in nothing.KINDS] + [f"hard: {kind}" for kind in nothing.HARD]
    assert [" ".join(words[: len(title.split())]) for words, title in zip(printed, titles, strict=True)] == titles
    for words, title in zip(printed, titles, strict=True):
        count, *shares = words[len(title.split()) : -2]
        assert int(count) == 2
        assert shares[1::2] == ["%"] * len(chance.LIMITS)
        levels = [float(share) for share in shares[::2]]
        assert levels == sorted(levels, reverse=True)
        assert set(levels) <= {0.0, 50.0, 100.0}


def test_equal_motions_keep_the_distances_within_their_parts():
    x, y, bound = next(nothing.problems("equal motions", 1))

    def keeps(count):
        parts = zip(np.split(x, count), np.split(y, count), strict=True)
        return all(np.allclose(pdist(a), pdist(b), atol=2.0 * bound) for a, b in parts)

    assert any(keeps(count) for count in range(4, 9) if len(x) % count == 0)
    assert not np.allclose(pdist(x), pdist(y), atol=2.0 * bound)


def test_mirror_images_are_matched_within_their_bounds():
    scan = Scan("a_b", bumpy_cloud(3000, 0))
    found = list(chance.mirrored([scan], 2))
    assert len(found) == 2
    for source, target, bound in found:
        assert len(source) == len(target) >= 20
        assert 0.0 < bound < 1.0


def test_rows_count_what_lies_below():
    row = chance._row("some", [-0.5, -2.5, -4.5, 1.0], 1)
    assert row == ["some", "4", "50.0 %", "50.0 %", "25.0 %", "25.0 %", "-4.5", "1"]


def test_problems_are_the_same_every_time():
    for kind in nothing.KINDS | nothing.HARD:
        first, again = (next(nothing.problems(kind, 1)) for _ in range(2))
        assert (first[0] == again[0]).all()
        assert (first[1] == again[1]).all()
        assert len(first[0]) == len(first[1])
