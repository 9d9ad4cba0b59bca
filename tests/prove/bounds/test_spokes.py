"""What is asked of spokes: distances as lower bounds, cells as the twin leaves them."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.spokes import (
    KNOWN,
    ROWS,
    Reach,
    _describe,
    _square_distances,
    make_spokes,
    reaches,
    search_spokes,
)
from tear3d.prove.pose.confined import allowed_for
from tests import naive_spokes as naive
from tests.naive import chart_point, chart_rotation
from tests.prove.pose.priors import allowed_pose, make_prior, unit


def spokes_of(p, q):
    """Rows as kernels want them."""
    p, q = p.astype(np.float32), q.astype(np.float32)
    rows = np.empty((ROWS, len(p)), np.float32)
    rows[:3], rows[3:6] = p.T, q.T
    pp, qq = np.sum(p * p, axis=1), np.sum(q * q, axis=1)
    rows[6], rows[7] = np.sqrt(pp) * np.sqrt(qq), pp + qq
    return rows


def random_cell(rng, level):
    side = 3 * 2**level
    return (int(rng.integers(4)), *(int(k) for k in rng.integers(side, size=3)))


def squares_in(p, q, level, cell):
    known, out = np.empty(KNOWN, np.float32), np.empty(len(p), np.float32)
    _describe(level, *cell, None, known)
    _square_distances(spokes_of(p, q), len(p), known, out)
    return out


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_no_rotation_of_a_cell_brings_a_spoke_nearer(size):
    """Spokes of all lengths, many of them turned by a rotation of the cell or just beyond it, and opposite ones."""
    rng = np.random.default_rng(int(1000 * size))
    beaten = 0
    for _ in range(60):
        level = int(rng.integers(6))
        cell = random_cell(rng, level)
        low, high = naive.cell_box(level, cell)
        p = rng.normal(size=(200, 3)) * 10.0 ** rng.uniform(-3, 1, (200, 1))
        about = np.clip(rng.uniform(low - (high - low), high + (high - low)), -1.0, 1.0)
        q = p @ chart_rotation(cell[0], about).T * (1.0 + 0.1 * rng.normal(size=(200, 1)))
        q[::3] = rng.normal(size=q[::3].shape)
        q[1::7] *= -1.0
        p, q = (size * p).astype(np.float32).astype(np.float64), (size * q).astype(np.float32).astype(np.float64)
        squares = squares_in(p, q, level, cell)
        for g in rng.uniform(low, high, (40, 3)):
            exact = np.sum((q - p @ chart_rotation(cell[0], g).T) ** 2, axis=1)
            assert np.all(squares <= exact * (1.0 + 1e-12))
            beaten += int(np.count_nonzero(squares > 0.9 * exact))
    assert beaten > 1000  # and they are no more careful than they must be


def test_distances_are_those_of_the_twin():
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(30):
        level = int(rng.integers(5))
        cell = random_cell(rng, level)
        low, high = naive.cell_box(level, cell)
        rotation, angle = chart_rotation(cell[0], 0.5 * (low + high)), angle_of(level, cell)
        assert naive.largest_angle(cell[0], low, high) <= angle * (1.0 + 1e-6)
        p, q = rng.normal(size=(2, 50, 3))
        found = np.sqrt(squares_in(p, q, level, cell))
        exact = np.array([naive.least_distance(*pair, rotation, angle) for pair in zip(p, q, strict=True)])
        assert np.all(found <= exact + 1e-6)
        cosines = np.sum(q * (p @ rotation.T), axis=1) / np.linalg.norm(p, axis=1) / np.linalg.norm(q, axis=1)
        sharp = cosines > -np.cos(angle)  # opposite ones are looked at less closely
        np.testing.assert_allclose(found[sharp], exact[sharp], atol=0.01)
        compared += int(np.count_nonzero(sharp & (exact > 0.1)))
    assert compared > 500


def angle_of(level, cell):
    known = np.empty(KNOWN, np.float32)
    _describe(level, *cell, None, known)
    return float(np.arccos(known[9]))


def searched(x, y, xi, loss, limit, level, room=4096, allowed=None):
    rows = np.concatenate([x.T, y.T]).astype(np.float32)
    members = np.arange(len(x), dtype=np.int32)
    reach = Reach(xi, LOSSES[loss].code, 256, int(256 * limit), level)
    found, left = np.empty((room, 5), np.int64), np.zeros(len(x), np.uint8)
    count, visits = search_spokes(rows, members, (0, len(x)), reach, allowed, make_spokes(len(x), level), found, left)
    return found[: min(count, room)], left, count, visits


def few_pairs(rng, n=14):
    """Two motions and some others, with hubs that others share a place with."""
    x = rng.normal(size=(n, 3))
    y = rng.normal(size=(n, 3))
    y[: n // 2] = x[: n // 2] @ chart_rotation(int(rng.integers(4)), rng.uniform(-1, 1, 3)).T
    x[1], y[n - 1] = x[0], y[0]
    return x, y


@pytest.mark.parametrize("loss", list(LOSSES))
def test_cells_are_those_of_the_twin(loss):
    """Between what the twin leaves with a little more and a little less to beat."""
    rng = np.random.default_rng(list(LOSSES).index(loss))
    compared = 0
    for _ in range(4):
        x, y = few_pairs(rng)
        limit = float(rng.uniform(3.0, 5.0))
        found, left, count, visits = searched(x, y, 0.2, loss, limit, 1)
        assert count == len(found)
        assert visits > 108 * len(x)
        for hub in range(0, len(x), 4):
            own = {tuple(int(k) for k in row[1:]) for row in found if row[0] == hub}
            fewer, more = (naive.cells_left(x, y, 0.2, loss, f * limit, 1, hub, angle_of) for f in (1.03, 0.9))
            assert fewer <= own <= more
            assert left[hub] or not own
            compared += len(own)
    assert compared > 20


def test_too_many_cells_are_told():
    x, y = few_pairs(np.random.default_rng(5))
    found, _, count, _ = searched(x, y, 0.3, "tear", 2.0, 1, room=7)
    assert (count, len(found)) == (8, 7)


def test_a_hub_alone_leaves_nothing():
    x, y = few_pairs(np.random.default_rng(6))
    _, left, count, _ = searched(x[:1], y[:1], 0.3, "tear", 1.5, 3)
    assert count == 0
    assert not left.any()


def allowed_by(rng, kind):
    """A prior for points as they are, in its chart."""
    prior = make_prior(rng, Pose(random_rotation(rng), rng.normal(size=3)), 1.0, kind)
    return prior, allowed_for(prior, np.eye(3), (np.eye(3), np.zeros(3), np.zeros(3)), 1e-12)


@pytest.mark.parametrize("kind", ["tilted", "around", "turn", "distance"])
def test_no_pose_that_is_allowed_is_taken_for_outside(kind):
    """A hub within its noise bound of its place, and a rotation of the cell: by both the prior's place is in reach."""
    rng = np.random.default_rng(7)
    out, xi, cut, near = 0, 0.05, 0, 0
    for _ in range(120):
        prior, allowed = allowed_by(rng, kind)
        pose, x = allowed_pose(rng, prior, 1.0), rng.normal(size=3).astype(np.float32).astype(float)
        y = (pose.apply(x[None])[0] + 0.999 * xi * unit(rng)).astype(np.float32).astype(float)
        face, g = chart_point(pose.rotation)
        for level in range(5):
            side = 3 * 2**level
            cell = (face, *np.clip(((g + 1.0) * side / 2.0).astype(int), 0, side - 1))
            for own, here in ((True, cell), (False, random_cell(rng, level))):
                known = np.empty(KNOWN, np.float32)
                _describe(level, *here, allowed, known)
                inside = bool(known[12]) and reaches(allowed, known, (*x,), (*y,), xi * (1.0 + 1e-5))
                assert inside or not own
                out += not inside
                cut += not known[12]
                low, high = naive.cell_box(level, here)
                turn, angle = chart_rotation(here[0], 0.5 * (low + high)), angle_of(level, here)
                p, q = prior.point - x, prior.place - y
                opposite = (turn @ p) @ q <= -np.cos(angle) * np.linalg.norm(p) * np.linalg.norm(q)
                if inside and np.isfinite(prior.distance) and np.linalg.norm(p) < 5.0 and not opposite:
                    assert naive.least_distance(p, q, turn, angle) <= prior.distance + xi + 0.01
                    near += 1
    assert out > 50
    assert (cut > 0) == (kind != "distance")
    assert (near > 50) == (kind in ("around", "distance"))


def test_cells_of_a_prior_are_those_that_reach_into_it():
    """Of the cells that are left without one."""
    rng = np.random.default_rng(3)
    fewer = 0
    for kind in ("around", "turn", "tilted", "distance"):
        _, allowed = allowed_by(rng, kind)
        x, y = few_pairs(rng)
        every = searched(x, y, 0.2, "tear", 3.0, 1)[0]
        found = searched(x, y, 0.2, "tear", 3.0, 1, allowed=allowed)[0]
        known, expected = np.empty(KNOWN, np.float32), []
        for hub, face, a, b, c in every.tolist():
            inside = True
            for level in (0, 1):
                _describe(level, face, a >> (1 - level), b >> (1 - level), c >> (1 - level), allowed, known)
                places = (*x[hub].astype(np.float32),), (*y[hub].astype(np.float32),)
                inside &= bool(known[12]) and reaches(allowed, known, *places, 0.2)
            if inside:
                expected.append([hub, face, a, b, c])
        assert found.tolist() == expected
        fewer += len(found) < len(every)
    assert fewer > 2
