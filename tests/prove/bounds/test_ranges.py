"""Ranges of r·x over cells against dense sampling: never violated, and no wider than the sampling step."""

import itertools
import math

import numpy as np
import pytest

from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges, rectangle_ranges
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.domains.sphere import cell_vertices
from tests import naive

PI = math.pi
SAMPLES = 81


def adversarial_points(extra):
    """All octants, axes, the origin, huge and tiny, and ± the given directions."""
    rng = np.random.default_rng(0)
    octants = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    parts = [rng.normal(size=(40, 3)), octants * rng.uniform(0.1, 3, octants.shape), np.eye(3), -np.eye(3)]
    parts += [np.zeros((1, 3)), 1e6 * rng.normal(size=(4, 3)), 1e-9 * rng.normal(size=(4, 3)), extra, -extra]
    return np.ascontiguousarray(np.concatenate(parts))


def check(x, directions, fill, step):
    lo, hi = np.empty(len(x)), np.empty(len(x))
    fill(x, lo, hi)
    least, most = naive.ranges(x, directions)
    length = np.linalg.norm(x, axis=1)
    # The sampled extremes carry rounding of their own, hence 1e-15.
    assert np.all(lo <= least + 1e-15 * length)
    assert np.all(hi >= most - 1e-15 * length)
    # A sample lies within `step` of the true extreme point.
    assert np.all(least - lo <= step * length)
    assert np.all(hi - most <= step * length)


RECTANGLES = [
    (0.0, 2 * PI, 0.0, PI),
    (0.0, PI, 0.0, PI / 2),
    (PI, 2 * PI, PI / 2, PI),
    (0.3, 0.3 + 1.7 * PI, 0.4, 1.0),
    (0.0, 0.2, 0.0, 0.1),
    (6.0, 2 * PI, PI - 0.1, PI),
    (3.0, 3.3, 1.5, 1.6),
    (1.0, 1.0, 0.7, 0.7),
    *[(k * PI / 2, (k + 1) * PI / 2, b, b + PI / 4) for k in range(4) for b in (0.0, PI / 4, PI / 2, 3 * PI / 4)],
]


@pytest.mark.parametrize("rectangle", RECTANGLES)
def test_rectangle_ranges(rectangle):
    a1, a2, b1, b2 = rectangle
    directions = naive.rectangle_directions(*rectangle, SAMPLES)
    x = adversarial_points(directions[:: len(directions) // 25])
    step = (a2 - a1 + b2 - b1) / (SAMPLES - 1) + 1e-14
    check(x, directions, lambda x, lo, hi: rectangle_ranges(x, *rectangle, lo, hi), step)


@pytest.mark.parametrize("level", [0, 1, 3, 12])
@pytest.mark.parametrize("face", range(6))
def test_cell_ranges(face, level):
    rng = np.random.default_rng(face + 10 * level)
    for i, j in {(0, 0), (2**level - 1, 0), tuple(rng.integers(0, 2**level, 2).tolist())}:
        directions = naive.cube_directions(face, level, i, j, SAMPLES)
        x = adversarial_points(directions[:: len(directions) // 25])
        vertices = cell_vertices(face, level, i, j)
        step = 2 * (PI / 2) / 2**level / (SAMPLES - 1) + 1e-14
        check(x, directions, lambda x, lo, hi, v=vertices: cell_ranges(x, v, lo, hi), step)
        # Either orientation of the vertices describes the same cell.
        reverse = np.ascontiguousarray(vertices[::-1])
        check(x, directions, lambda x, lo, hi, v=reverse: cell_ranges(x, v, lo, hi), step)


@pytest.mark.parametrize("depth", [20, 30, 40])
def test_deep_cells_hold_their_vertices_and_centre(depth):
    rng = np.random.default_rng(depth)
    x = adversarial_points(rng.normal(size=(5, 3)))
    for i, j in rng.integers(0, 2**depth, (20, 2)):
        vertices = cell_vertices(1, depth, int(i), int(j))
        mixed = rng.dirichlet(np.ones(4), 50) @ vertices
        check(
            x,
            mixed / np.linalg.norm(mixed, axis=1, keepdims=True),
            lambda x, lo, hi, v=vertices: cell_ranges(x, v, lo, hi),
            4.0 / 2**depth + 1e-14,
        )


@pytest.mark.parametrize("arc", [(0, 2 * PI), (0, PI), (1, 1 + 1.5 * PI), (2, 2.5), (5.5, 6.2), (1, 1), (PI, 2 * PI)])
def test_arc_ranges(arc):
    for r1 in (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.3, -0.5, 0.8])):
        u, v = orthogonal_basis(r1)
        directions = naive.arc_directions(u, v, *arc, 401)
        x = adversarial_points(directions[::40])
        step = (arc[1] - arc[0]) / 400 + 1e-14
        check(
            x,
            directions,
            lambda x, lo, hi, u=u, v=v: arc_ranges(x, u, v, float(arc[0]), float(arc[1]), lo, hi),
            step,
        )
