"""The window bound: rests of shifts, last bins, and its direct sum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.data import Axis
from tear3d.prove.bounds.grid import make_grid
from tests import naive
from tests.prove.bounds.cases import ONE, CellCase, bounds_at, is_clean, pack, random_case, savings_at


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_windows_carry_the_rest_of_a_shift_into_the_linear_term(levels):
    """Points on the rim move by more than the whole bins of the windows; all their residuals have one sign."""
    xi, n = 0.1, 50
    for level in range(5, 12):
        case = CellCase(np.random.default_rng(level), level, True)
        x = np.tile(0.9999 * np.array(case.cell.e1), (n, 1))
        r = case.directions(np.array([[0.0, 0.0], [1.0, 0.0]]))
        for bins in (4, 5, 7, 11):
            beta = xi / bins
            for y in (0.3 * xi, -0.3 * xi):
                row = pack(x, np.full(n, y), np.array([xi]), ONE, True)
                values = bounds_at(row, case, 0.0, beta, 31, levels)
                shifts = (np.arange(31)[:, None] + [-0.4999, 0.0, 0.4999]) * beta
                savings = savings_at(x, np.full(n, y), np.array([xi]), ONE, r, shifts.ravel())
                assert np.all(values >= savings.max(axis=0).reshape(31, 3).max(axis=1))


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_windows_see_the_last_bins(levels):
    """One point that only a full shift brings near the last node."""
    xi = 0.2
    for level in range(5, 9):
        case = CellCase(np.random.default_rng(level), level, True)
        r = case.directions(np.array([[1.0, 0.0]]))
        x = 0.9999 * np.array([case.cell.e1])
        for bins in (4, 5, 7):
            for nodes in range(1, 30, 3):
                t = (nodes - 1) * xi / bins
                for z in (0.3, 0.6, 0.9):
                    y = r[0] @ x.T + t + z * xi
                    row = pack(x, y, np.array([xi]), ONE, True)
                    values = bounds_at(row, case, 0.0, xi / bins, nodes, levels)
                    assert values[-1] >= savings_at(x, y, xi, 1.0, r, np.array([t]))[0, 0]
                    assert is_clean(row)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["gaussian", "surface", "duplicates", "rim"]), st.integers(4, 10))
def test_windows_equal_their_direct_sum(seed, kind, level):
    rng = np.random.default_rng(seed)
    case, x, y, xi, w, low, beta, _ = random_case(rng, kind, level, seed % 3 == 0, False)
    x, y = x[:24], y[:24]
    row = pack(x, y, xi, w, True)
    points = row.all._replace(extent=1.01 * row.largest, near=len(y))
    nodes = 4
    for levels in (2, 3):
        grid = make_grid(points, case.cell, Axis(low, beta, nodes), levels)
        if grid.slack > 12:
            continue  # the direct sum would take minutes
        values = bounds_at(row.__class__(**{**vars(row), "all": points}), case, low, beta, nodes, levels)
        exact = [
            naive.window_bound(x, y, xi[0], case.cell, (levels, points.extent, grid.inside), low + k * beta, beta)
            for k in range(nodes)
        ]
        scale = float(xi[0]) * len(y)
        assert np.all(values >= np.array(exact) - 1e-12 * scale)
        assert np.all(values <= np.array(exact) + 2e-5 * len(y) * (scale + len(y) * grid.inside))
