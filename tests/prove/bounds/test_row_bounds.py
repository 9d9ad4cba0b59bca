"""The sharp bounds are bounds: nothing inside a cell saves more, in floating point, for any cloud."""

import numpy as np
import pytest

from tests.prove.bounds.cases import (
    CLOUDS,
    ONE,
    CellCase,
    bounds_at,
    cloud,
    is_clean,
    pack,
    random_case,
    row_problem,
    savings_at,
)

BOUNDS = ("windows", "first", "sweep")


def worst_savings(rng, case, row, low, beta, nodes):
    """The most that vertices, edges, random and locally improved (r, t) save, per node."""
    x, y, xi, w = row
    best = np.zeros(nodes)
    corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0), (0.5, 0.5)], float)
    edges = np.column_stack([rng.random(8), rng.integers(0, 2, 8)])
    ab = np.concatenate([corners, edges, edges[:, ::-1], rng.random((12, 2))])
    shifts = rng.uniform(low, low + nodes * beta, 12)
    for step in (0.3, 0.1, 0.02):
        directions = case.directions(ab)
        b = (y - directions[rng.integers(len(ab), size=len(y))] @ x.T).diagonal()  # kinks: where maxima are
        kinks = b[(b > low) & (b < low + nodes * beta)]
        shifts = np.concatenate([shifts, rng.permutation(kinks)[:16]])
        savings = savings_at(x, y, xi, w, directions, shifts)
        node = np.clip(((shifts - low) / beta).astype(int), 0, nodes - 1)
        np.maximum.at(best, node, savings.max(axis=0))
        # Go on around the best few, each at its own shift.
        rows, columns = np.unravel_index(np.argsort(savings, axis=None)[-4:], savings.shape)
        ab = np.clip(np.repeat(ab[rows], 6, axis=0) + step * rng.normal(size=(24, 2)), 0.0, 1.0)
        near = shifts[columns][:, None] + step * beta * rng.normal(size=(4, 3))
        shifts = np.clip(np.concatenate([shifts[columns], near.ravel()]), low, low + nodes * beta)
    return best


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", CLOUDS)
def test_no_pose_in_a_cell_saves_more_than_its_bounds(kind, double):
    rng = np.random.default_rng([CLOUDS.index(kind), double])
    by_windows = windows = 0
    for trial in range(130):
        level, circle, general = trial % 15, trial % 3 == 0, trial % 4 == 0
        case, x, y, xi, w, low, beta, nodes = random_case(rng, kind, level, circle, general)
        best = worst_savings(rng, case, (x, y, xi, w), low, beta, nodes)
        row = pack(x, y, xi, w, double)
        label = f"trial {trial}, level {level}, circle {circle}, general {general}"
        first = bounds_at(row, case, low + 0.5 * beta, beta, nodes, 0)
        assert np.all(first >= best), f"first order: {label}"
        assert case.sweep(row_problem(x, y, xi, w)) >= best.max(), label
        for levels in (2, 3, 4, 5) if not general and row.all.near else ():
            values = bounds_at(row, case, low + 0.5 * beta, beta, nodes, levels)
            assert np.all(values >= best), f"windows, {levels} levels: {label}"
            windows += 1
            by_windows += not np.array_equal(values, first)
        assert general or is_clean(row), f"windows left their grid dirty: {label}"
    assert by_windows > 0.5 * windows


def test_a_huge_threshold_survives_single_precision():
    """A pair that may be off by far more than the cloud's size, as one sets to say "this one is useless"."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        case = CellCase(rng, 10, False)
        x, w, xi = rng.normal(size=(10, 3)), rng.random(10), np.full(10, 0.3)
        xi[0] = 1e6 * rng.random()
        y = x @ case.centre + 0.1 * rng.normal(size=10)
        bound = bounds_at(pack(x, y, xi, w, False), case, 0.0, 0.3 / 8, 1, 0)[0]
        assert bound >= savings_at(x, y, xi, w, case.centre[None], np.zeros(1))[0, 0]


def test_windows_beat_first_order_beat_sweep_on_a_smooth_background(capsys):
    rng = np.random.default_rng(5)
    n, xi = 400_000, 0.0554
    x, y = cloud("surface", n, rng), rng.normal(0.0, 1.67, n)
    row = pack(x, y, np.array([xi]), ONE, False)
    for level in (4, 5):
        case = CellCase(np.random.default_rng(level), level, False)
        beta = xi / 8
        centre = case.centre[None]
        truth = savings_at(x, y, xi, 1.0, centre, np.linspace(-0.2, 0.2, 9)).max()
        first = bounds_at(row, case, -0.5, beta, int(1.0 / beta), 0).max()
        windows = min(bounds_at(row, case, -0.5, beta, int(1.0 / beta), levels).max() for levels in (4, 5))
        sweep = case.sweep(row_problem(x, y, np.array([xi]), ONE))
        with capsys.disabled():
            excess = [f"{name} {value / truth - 1.0:.1%}" for name, value in locals().items() if name in BOUNDS]
            print(f"\nlevel {level}: above the centre's saving by " + ", ".join(excess))
        assert truth <= windows < first < sweep
        assert windows - truth < 0.7 * (first - truth)
        assert first - truth < 0.8 * (sweep - truth)
