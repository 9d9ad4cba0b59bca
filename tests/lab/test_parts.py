"""Machine parts made in code, and scans of them."""

import numpy as np
import pytest

from tear3d.lab.bench import make_bench
from tear3d.lab.parts import PARTS, box, rod


@pytest.mark.parametrize("name", PARTS)
def test_points_lie_on_the_surface(name):
    part = PARTS[name]()
    points = part.sample(3000, np.random.default_rng(0))
    assert points.shape == (3000, 3)
    assert np.abs(part.distance(points)).max() < 1e-5


def test_distances_of_a_box_and_a_rod():
    places = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 2.0, 0.0]])
    assert box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)).distance(places) == pytest.approx([1.0, -1.0, np.sqrt(2.0)])
    assert rod((0.0, 0.0, -1.0), 2, 2.0, 1.0).distance(places) == pytest.approx([1.0, -1.0, np.sqrt(8.0) - 1.0])


def test_points_of_a_bracket_are_uniform():
    points = PARTS["plain bracket"]().sample(40_000, np.random.default_rng(1))
    # The outer side of a leg, 100 by 40 mm, of the whole surface: two sides, two ends and two faces of each leg.
    whole = 2 * (100.0 + 92.0) * 40.0 + 2 * 8.0 * 40.0 + 2 * (100.0 * 8.0 + 92.0 * 8.0)
    assert np.mean(points[:, 1] < 1e-9) == pytest.approx(4000.0 / whole, abs=0.01)


def test_a_scan_lies_on_the_part_and_on_the_table():
    bench = make_bench("block", spacing=2.0, noise=0.0, table=200.0, views=1, points=5000, seed=3)
    back = (bench.scan - bench.transformation[:3, 3]) @ bench.transformation[:3, :3]
    on_part = np.abs(PARTS["block"]().distance(back)) < 0.01
    assert on_part.mean() == pytest.approx(bench.shown, abs=0.01)
    assert 0.1 < bench.shown < 0.9
    sides = np.abs(back[~on_part, 2]) < 0.01, back[~on_part, 2] < 0.01
    assert sides[0].mean() > 0.9
    assert sides[1].all(), "the rest is the table's edge"
    again = make_bench("block", spacing=2.0, noise=0.0, table=200.0, views=1, points=5000, seed=3)
    assert np.array_equal(again.scan, bench.scan)
