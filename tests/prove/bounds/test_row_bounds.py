"""The sharp bounds are bounds: nothing inside a cell saves more, in floating point, for any cloud."""

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges
from tear3d.prove.domains.sphere import cell_geometry, cell_vertices
from tear3d.prove.row import subtree
from tear3d.prove.row.points import pack_points
from tear3d.prove.row.state import Setting, make_scratch
from tear3d.prove.row.sweep import _pairs
from tests import naive

CLOUDS = ("gaussian", "surface", "line", "clusters", "far", "duplicates", "rim", "few")
GROUPS = 5_000_000
BOUNDS = ("windows", "first", "sweep")


def cloud(kind, n, rng):
    """n×3 points about the origin, of size about 1."""
    x = rng.normal(size=(n, 3))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    if kind == "surface":
        return unit * [0.5, 0.35, 0.2]
    if kind == "line":
        return x * [1.0, 1e-3, 1e-9]
    if kind == "clusters":
        return 0.05 * x + np.where(rng.random((n, 1)) < 0.5, 1.0, -1.0) * [0.6, -0.3, 0.4]
    if kind == "far":
        return x * np.where(rng.random((n, 1)) < 0.03, 40.0, 1.0)
    if kind == "duplicates":
        return x[rng.integers(0, 3, n)]
    return 0.9 * unit if kind == "rim" else x


class Cell:
    """A cell of the sphere, or an arc, with its directions addressed by (a, b) in the unit square."""

    def __init__(self, rng, level, circle):
        self.circle, self.basis = circle, np.zeros((2, 3))
        self.address: Any
        self.geometry = np.empty(12)
        if circle:
            self.basis[:] = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
            i = int(rng.integers(2**level))
            self.address = (level, i)
            subtree.arc_geometry(level, i, self.basis, self.geometry)
        else:
            face, (i, j) = int(rng.integers(6)), rng.integers(0, 2**level, 2).tolist()
            self.address = (face, level, i, j)
            cell_geometry(face, level, i, j, self.geometry)

    def directions(self, ab):
        if self.circle:
            level, i = self.address
            angle = 2.0 * np.pi * (i + ab[:, 0]) / 2**level
            return np.cos(angle)[:, None] * self.basis[0] + np.sin(angle)[:, None] * self.basis[1]
        face, level, i, j = self.address
        tangents = np.tan(np.pi / 4 * (2.0 * (ab + np.array([i, j])) / 2**level - 1.0))
        out = np.empty((len(ab), 3))
        out[:, face // 2] = 1 - 2 * (face % 2)
        out[:, (face // 2 + 1) % 3], out[:, (face // 2 + 2) % 3] = tangents.T
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def sweep(self, x, y, xi, w):
        pairs = _pairs(x, y, xi, w, "tear")
        if self.circle:
            level, i = self.address
            width = 2.0 * np.pi / 2**level
            return pairs.bound(arc_ranges, *self.basis, i * width, (i + 1) * width)
        return pairs.bound(cell_ranges, cell_vertices(*self.address))


def pack(x, y, xi, w, double):
    """y as the first target coordinate; ξ and w of length 1 when all pairs share them."""
    target = np.column_stack([y, np.zeros_like(y), np.zeros_like(y)])
    axis = np.array([1.0, 0.0, 0.0])
    return pack_points(x, target, xi, w, centre=np.zeros(3), direction=axis, offset=0.0, double=double)


def setting_of(row, cell):
    return Setting(
        xi=row.xi,
        eps=row.eps,
        radius=row.radius,
        extent=row.extent,
        background=1.0,
        slack=0.0,
        general=row.general,
        circle=cell.circle,
        basis=cell.basis,
    )


@functools.cache
def work_space(rows, dtype):
    """One work space for all problems of a kind, with a grid of groups large enough for every test."""
    scratch = make_scratch(np.empty((rows, 1), dtype), 0, 1)
    return scratch._replace(groups=np.zeros(GROUPS, np.float32))


def is_clean(row):
    return not work_space(len(row.points), row.points.dtype).groups.any()


def bounds_at(row, cell, t0, beta, nodes, levels):
    """The bound at the nodes t0 + kβ, by windows with 2^levels groups a side or, for 0, by first order."""
    scratch = work_space(len(row.points), row.points.dtype)
    scratch.segments[0] = 0, row.points.shape[1], row.near
    subtree.bound_cell(row.points, 0, cell.geometry, t0, beta, nodes, levels, setting_of(row, cell), scratch)
    return scratch.values[:nodes].copy()


def savings_at(x, y, xi, w, directions, shifts):
    """Σ w·max(0, ξ − |y − r·x − t|) for all r and t: len(directions)×len(shifts)."""
    b = y - directions @ x.T
    z = np.abs(b[:, None, :] - shifts[None, :, None])
    return np.maximum(0.0, xi - z) @ np.broadcast_to(w, len(y))


def worst_savings(rng, cell, x, y, xi, w, low, beta, nodes):
    """The most that vertices, edges, random and locally improved (r, t) save, per node."""
    best = np.zeros(nodes)
    corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0), (0.5, 0.5)], float)
    edges = np.column_stack([rng.random(8), rng.integers(0, 2, 8)])
    ab = np.concatenate([corners, edges, edges[:, ::-1], rng.random((12, 2))])
    shifts = rng.uniform(low, low + nodes * beta, 12)
    for step in (0.3, 0.1, 0.02):
        directions = cell.directions(ab)
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


def random_case(rng, kind, level, circle, general):
    """Pairs some of which agree with a direction of the cell, and nodes around that agreement."""
    cell = Cell(rng, level, circle)
    n = int(rng.integers(1, 5)) if kind == "few" else int(rng.integers(5, 160))
    scale = 10.0 ** rng.choice([0.0, 0.0, -3.0, 6.0])
    threshold = rng.choice([0.02, 0.1, 0.4])
    x = cloud(kind, n, rng)
    r = cell.directions(rng.integers(0, 2, (1, 2)) if rng.random() < 0.7 else rng.random((1, 2)))[0]
    # Residuals of one sign are the hard ones: the linear terms do not cancel.
    spread = rng.uniform(0.0, 1.0, n) if rng.random() < 0.5 else rng.normal(size=n)
    y = x @ r + rng.normal() + threshold * spread
    wrong = rng.random(n) < rng.choice([0.0, 0.6])
    y[wrong] = rng.normal(0.0, 1.67, np.count_nonzero(wrong))
    xi, w = np.array([threshold]), np.ones(1)
    if general and n > 1:
        xi = threshold * np.exp(rng.normal(0.0, 0.7, n)) * (rng.random(n) > 0.1)
        w = rng.uniform(0.0, 3.0, n) * (rng.random(n) > 0.1)
        if not np.any(xi * w > 0.0):
            xi[0] = w[0] = threshold
    bins = int(rng.integers(4, 20))
    nodes = int(rng.integers(1, 40))
    beta = float(np.median(xi[xi > 0.0])) / bins
    centre = float(np.median(y - x @ cell.geometry[:3]))
    low = centre + threshold * rng.normal() - rng.random() * nodes * beta
    return cell, x * scale, y * scale, xi * scale, w, low * scale, beta * scale, nodes


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", CLOUDS)
def test_no_pose_in_a_cell_saves_more_than_its_bounds(kind, double):
    rng = np.random.default_rng([CLOUDS.index(kind), double])
    by_windows = windows = 0
    for trial in range(130):
        level, circle, general = trial % 15, trial % 3 == 0, trial % 4 == 0
        cell, x, y, xi, w, low, beta, nodes = random_case(rng, kind, level, circle, general)
        best = worst_savings(rng, cell, x, y, xi, w, low, beta, nodes)
        row = pack(x, y, xi, w, double)
        label = f"trial {trial}, level {level}, circle {circle}, general {general}"
        first = bounds_at(row, cell, low + 0.5 * beta, beta, nodes, 0)
        assert np.all(first >= best), f"first order: {label}"
        assert cell.sweep(x, y, np.broadcast_to(xi, len(y)), np.broadcast_to(w, len(y))) >= best.max(), label
        for levels in (2, 3, 4, 5) if not general and row.near else ():
            values = bounds_at(row, cell, low + 0.5 * beta, beta, nodes, levels)
            assert np.all(values >= best), f"windows, {levels} levels: {label}"
            windows += 1
            by_windows += not np.array_equal(values, first)
        assert general or is_clean(row), f"windows left their grid dirty: {label}"
    assert by_windows > 0.5 * windows


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_windows_carry_the_rest_of_a_shift_into_the_linear_term(levels):
    """Points on the rim move by more than the whole bins of the windows; all their residuals have one sign."""
    xi, n = 0.1, 50
    for level in range(5, 12):
        cell = Cell(np.random.default_rng(level), level, True)
        x = np.tile(0.9999 * cell.geometry[3:6], (n, 1))
        r = cell.directions(np.array([[0.0, 0.0], [1.0, 0.0]]))
        for bins in (4, 5, 7, 11):
            beta = xi / bins
            for y in (0.3 * xi, -0.3 * xi):
                row = pack(x, np.full(n, y), np.array([xi]), np.ones(1), True)
                values = bounds_at(row, cell, 0.0, beta, 31, levels)
                shifts = (np.arange(31)[:, None] + [-0.4999, 0.0, 0.4999]) * beta
                savings = savings_at(x, np.full(n, y), np.array([xi]), np.ones(1), r, shifts.ravel())
                assert np.all(values >= savings.max(axis=0).reshape(31, 3).max(axis=1))


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_windows_see_the_last_bins(levels):
    """One point that only a full shift brings near the last node."""
    xi = 0.2
    for level in range(5, 9):
        cell = Cell(np.random.default_rng(level), level, True)
        r = cell.directions(np.array([[1.0, 0.0]]))
        x = 0.9999 * cell.geometry[None, 3:6]
        for bins in (4, 5, 7):
            for nodes in range(1, 30, 3):
                t = (nodes - 1) * xi / bins
                for z in (0.3, 0.6, 0.9):
                    y = r[0] @ x.T + t + z * xi
                    row = pack(x, y, np.array([xi]), np.ones(1), True)
                    values = bounds_at(row, cell, 0.0, xi / bins, nodes, levels)
                    assert values[-1] >= savings_at(x, y, xi, 1.0, r, np.array([t]))[0, 0]
                    assert is_clean(row)


def test_a_huge_threshold_survives_single_precision():
    """A pair that may be off by far more than the cloud's size, as one sets to say "this one is useless"."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        cell = Cell(rng, 10, False)
        x, w, xi = rng.normal(size=(10, 3)), rng.random(10), np.full(10, 0.3)
        xi[0] = 1e6 * rng.random()
        y = x @ cell.geometry[:3] + 0.1 * rng.normal(size=10)
        bound = bounds_at(pack(x, y, xi, w, False), cell, 0.0, 0.3 / 8, 1, 0)[0]
        assert bound >= savings_at(x, y, xi, w, cell.geometry[None, :3], np.zeros(1))[0, 0]


def test_a_crowd_in_one_bin_leaves_nothing_behind():
    """Thousands of equal pairs, then thousands of nodes: what their kinks leave over must not add up below 0."""
    cell = Cell(np.random.default_rng(1), 14, False)
    for n in (1000, 20_000):
        for offset in (0.3, 0.7, 0.9):
            xi, w = np.full(n, 0.04), np.full(n, 0.7)
            row = pack(np.full((n, 3), 1e-9), np.full(n, 0.01 * offset), xi, w, True)
            assert bounds_at(row, cell, 0.0, 0.01, 4000, 0).min() >= 0.0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(CLOUDS), st.integers(1, 12), st.booleans())
def test_first_order_equals_its_direct_sum(seed, kind, level, general):
    rng = np.random.default_rng(seed)
    cell, x, y, xi, w, low, beta, nodes = random_case(rng, kind, level, seed % 3 == 0, general)
    row = pack(x, y, xi, w, True)
    values = bounds_at(row, cell, low + 0.5 * beta, beta, nodes, 0)
    everyone = np.broadcast_to(xi, len(y)), np.broadcast_to(w, len(y))
    exact = [
        naive.first_order_bound(x, y, *everyone, cell.geometry, low + (k + 0.5) * beta, 0.5 * beta)
        for k in range(nodes)
    ]
    scale = float(np.sum(everyone[0] * everyone[1]))
    # The sums of equal thresholds are float32; their margin, part of the bound, grows with n².
    margin = 2e-6 * float(np.sum(everyone[1] * np.linalg.norm(x, axis=1)))  # the reach is rounded up by 1e-6
    margin += 0.0 if general else 1e-6 * len(y) * scale
    assert np.all(values >= np.array(exact) - 1e-12 * scale)
    assert np.all(values <= np.array(exact) + 1e-5 * scale + margin)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(CLOUDS), st.integers(1, 12))
def test_wide_and_narrow_agree(seed, kind, level):
    """The same pairs with and without their (equal) own thresholds and weights take the two ways."""
    rng = np.random.default_rng(seed)
    cell, x, y, xi, w, low, beta, _ = random_case(rng, kind, level, False, False)
    nodes = 2 * round(float(xi[0]) / beta) + 20
    wide = bounds_at(pack(x, y, xi, w, True), cell, low, beta, nodes, 0)
    narrow = bounds_at(pack(x, y, np.full(len(y), xi[0]), np.ones(len(y)), True), cell, low, beta, nodes, 0)
    np.testing.assert_allclose(wide, narrow, rtol=0, atol=1e-6 * len(y) ** 2 * float(xi[0]))
    assert np.all(wide >= narrow - 1e-9 * len(y) * float(xi[0]))


def test_windows_beat_first_order_beat_sweep_on_a_smooth_background(capsys):
    rng = np.random.default_rng(5)
    n, xi = 400_000, 0.0554
    x, y = cloud("surface", n, rng), rng.normal(0.0, 1.67, n)
    row = pack(x, y, np.array([xi]), np.ones(1), False)
    for level in (4, 5):
        cell = Cell(np.random.default_rng(level), level, False)
        beta = xi / 8
        centre = cell.geometry[None, :3]
        truth = savings_at(x, y, xi, 1.0, centre, np.linspace(-0.2, 0.2, 9)).max()
        first = bounds_at(row, cell, -0.5, beta, int(1.0 / beta), 0).max()
        windows = min(bounds_at(row, cell, -0.5, beta, int(1.0 / beta), levels).max() for levels in (4, 5))
        sweep = cell.sweep(x, y, np.full(n, xi), np.ones(n))
        with capsys.disabled():
            excess = [f"{name} {value / truth - 1.0:.1%}" for name, value in locals().items() if name in BOUNDS]
            print(f"\nlevel {level}: above the centre's saving by " + ", ".join(excess))
        assert truth <= windows < first < sweep
        assert windows - truth < 0.7 * (first - truth)
        assert first - truth < 0.8 * (sweep - truth)


def test_the_first_order_inequality():
    z, e, xi = np.meshgrid(np.linspace(-4, 4, 321), np.linspace(-6, 6, 481), [0.0, 0.5, 1.0, 1.7], indexing="ij")
    save = np.maximum(0.0, xi - np.abs(z))
    slope = np.where(np.abs(z) < xi, -np.sign(z), 0.0)
    bound = save + slope * e + np.maximum(0.0, np.abs(e) - np.abs(np.abs(z) - xi))
    assert np.all(np.maximum(0.0, xi - np.abs(z + e)) <= bound + 1e-12)


@pytest.mark.parametrize("kind", CLOUDS)
def test_copied_points_save_all_that_can_be_saved(kind):
    rng = np.random.default_rng(CLOUDS.index(kind))
    shrunk = 0
    for trial in range(60):
        general = trial % 2 == 0
        cell, x, y, xi, w, low, beta, nodes = random_case(rng, kind, trial % 12, trial % 3 == 0, general)
        y[rng.random(len(y)) < 0.5] += 20.0 * float(xi.max())
        row = pack(x, y, xi, w, True)
        size = row.points.shape[1]
        scratch = make_scratch(row.points, row.near, size + 2 * subtree.BLOCK)
        high = low + nodes * beta
        if not subtree.copy_active(row.points, 0, cell.geometry, low, high, setting_of(row, cell), scratch):
            continue
        start, kept, near = scratch.segments[1].tolist()
        part = scratch.arena[:, start : start + kept]
        shrunk += kept < size
        directions, shifts = cell.directions(rng.random((30, 2))), np.linspace(low, high, 15)
        thresholds = (row.points[4], part[4]) if row.general else (row.xi, row.xi)
        weights = (row.points[5], part[5]) if row.general else (1.0, 1.0)
        everything = savings_at(row.points[:3].T, row.points[3], thresholds[0], weights[0], directions, shifts)
        copied = savings_at(part[:3].T, part[3], thresholds[1], weights[1], directions, shifts)
        np.testing.assert_allclose(copied, everything, rtol=1e-12, atol=1e-12 * row.total)
        assert row.general or near == np.count_nonzero(np.linalg.norm(part[:3], axis=0) <= row.extent)
        assert np.all(np.linalg.norm(part[:3, :near], axis=0) <= row.extent)
    assert shrunk > 10


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("kind", CLOUDS)
def test_packing_keeps_every_usable_pair_once(kind, general, double):
    rng = np.random.default_rng(3)
    n = 400
    source, target = cloud(kind, n, rng) + np.array([5.0, -3.0, 1.0]), rng.normal(size=(n, 3))
    centre, direction, offset = source.mean(axis=0), np.array([2.0, -1.0, 2.0]) / 3.0, 0.7
    xi, w = np.array([0.1]), np.ones(1)
    if general:
        xi, w = rng.uniform(0.0, 1.0, n) * (rng.random(n) > 0.2), rng.uniform(0.0, 1.0, n) * (rng.random(n) > 0.2)
    row = pack_points(source, target, xi, w, centre=centre, direction=direction, offset=offset, double=double)
    columns = [source - centre, target @ direction - offset]
    if general:
        columns += [xi, w]
    expected = np.column_stack(columns)[np.broadcast_to(xi * w > 0.0, n)]
    assert row.points.dtype == (np.float64 if double else np.float32)
    assert row.general == general
    assert row.points.shape == (expected.shape[1], len(expected))
    got = row.points.T.astype(np.float64)
    tolerance = 1e-12 if double else 1e-5
    order = [np.lexsort(np.round(rows, 3).T) for rows in (got, expected)]
    if kind not in ("duplicates", "line"):  # rounding may swap rows that are nearly equal
        np.testing.assert_allclose(got[order[0]], expected[order[1]], atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(np.sort(got[:, 3]), np.sort(expected[:, 3]), atol=tolerance * 10)
    length = np.linalg.norm(got[:, :3], axis=1)
    if not general:
        assert row.near >= 0.9 * n
        assert np.all(length[: row.near] <= row.extent)
        assert np.all(length[row.near :] > row.extent * (1.0 - 1e-5))
    assert row.largest == pytest.approx(np.linalg.norm(source - centre, axis=1).max())
    assert row.total == pytest.approx(float(np.sum(np.broadcast_to(xi * w, n))))
