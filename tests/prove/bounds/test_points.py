"""Packing a row problem, and copying the points that still matter."""

import numpy as np
import pytest

from tear3d.prove.row.points import pack_points
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.state import COUNT, NEAR, START, make_space
from tear3d.prove.row.subtree import BLOCK, copy_active
from tests.prove.bounds.cases import CLOUDS, ONE, cloud, pack, random_case, savings_at


@pytest.mark.parametrize("kind", CLOUDS)
def test_copied_points_save_all_that_can_be_saved(kind):
    rng = np.random.default_rng(CLOUDS.index(kind))
    shrunk = 0
    for trial in range(60):
        general = trial % 2 == 0
        case, x, y, xi, w, low, beta, nodes = random_case(rng, kind, trial % 12, trial % 3 == 0, general)
        y[rng.random(len(y)) < 0.5] += 20.0 * float(xi.max())
        row = pack(x, y, xi, w, True)
        size = row.all.count
        space = make_space(row.all)
        space = space._replace(arena=np.empty((len(row.all.rows), size + 2 * BLOCK)))
        high = low + nodes * beta
        if not copy_active(row.all, 0, case.cell, low, high, space):
            continue
        start, kept, near = space.segments[1, [START, COUNT, NEAR]].tolist()
        part = space.arena[:, start : start + kept]
        shrunk += kept < size
        directions, shifts = case.directions(rng.random((30, 2))), np.linspace(low, high, 15)
        thresholds = (row.all.rows[4], part[4]) if row.all.general else (row.all.xi, row.all.xi)
        weights = (row.all.rows[5], part[5]) if row.all.general else (1.0, 1.0)
        everything = savings_at(row.all.rows[:3].T, row.all.rows[3], thresholds[0], weights[0], directions, shifts)
        copied = savings_at(part[:3].T, part[3], thresholds[1], weights[1], directions, shifts)
        np.testing.assert_allclose(copied, everything, rtol=1e-12, atol=1e-12 * row.total)
        assert row.all.general or near == np.count_nonzero(np.linalg.norm(part[:3], axis=0) <= row.all.extent)
        assert np.all(np.linalg.norm(part[:3, :near], axis=0) <= row.all.extent)
    assert shrunk > 10


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("kind", CLOUDS)
def test_packing_keeps_every_usable_pair_once(kind, general, double):
    rng = np.random.default_rng(3)
    n = 400
    source, target = cloud(kind, n, rng) + np.array([5.0, -3.0, 1.0]), rng.normal(size=(n, 3))
    centre, direction, offset = source.mean(axis=0), np.array([2.0, -1.0, 2.0]) / 3.0, 0.7
    xi, w = np.array([0.1]), ONE
    if general:
        xi, w = rng.uniform(0.0, 1.0, n) * (rng.random(n) > 0.2), rng.uniform(0.0, 1.0, n) * (rng.random(n) > 0.2)
    row = pack_points(RowProblem(source, target, xi, w, centre, direction, offset), double=double)
    columns = [source - centre, target @ direction - offset]
    if general:
        columns += [xi, w]
    expected = np.column_stack(columns)[np.broadcast_to(xi * w > 0.0, n)]
    assert row.all.rows.dtype == (np.float64 if double else np.float32)
    assert row.all.general == general
    assert row.all.rows.shape == (expected.shape[1], len(expected))
    got = row.all.rows.T.astype(np.float64)
    tolerance = 1e-12 if double else 1e-5
    order = [np.lexsort(np.round(rows, 3).T) for rows in (got, expected)]
    if kind not in ("duplicates", "line"):  # rounding may swap rows that are nearly equal
        np.testing.assert_allclose(got[order[0]], expected[order[1]], atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(np.sort(got[:, 3]), np.sort(expected[:, 3]), atol=tolerance * 10)
    length = np.linalg.norm(got[:, :3], axis=1)
    if not general:
        assert row.all.near >= 0.9 * n
        assert np.all(length[: row.all.near] <= row.all.extent)
        assert np.all(length[row.all.near :] > row.all.extent * (1.0 - 1e-5))
    assert row.largest == pytest.approx(np.linalg.norm(source - centre, axis=1).max())
    assert row.total == pytest.approx(float(np.sum(np.broadcast_to(xi * w, n))))


def test_nothing_to_save_is_an_empty_row():
    none = np.empty((0, 3))
    for source, xi in ((none, ONE), (np.eye(3), np.zeros(1)), (np.eye(3), np.zeros(3))):
        row = pack_points(RowProblem(source, source, xi, ONE, np.zeros(3), np.eye(3)[0], 0.0))
        assert row.all.count == row.total == 0


@pytest.mark.parametrize("scale", [1e-60, 1e-35, 1e35, 1e60])
def test_numbers_that_single_precision_cannot_hold_are_packed_in_double(scale):
    x = scale * np.random.default_rng(0).normal(size=(20, 3))
    row = pack(x, x[:, 0], np.array([0.1 * scale]), ONE, False)
    assert row.all.rows.dtype == np.float64
    assert np.all(np.isfinite(row.all.rows))
    assert 0.0 < row.all.eps < 1e-13 * scale
    assert pack(x / scale, x[:, 0] / scale, np.array([0.1]), np.full(20, 1e-40), False).all.rows.dtype == np.float64
