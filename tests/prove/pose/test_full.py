"""The bound for the whole pose: charts, votes, slopes, subtrees, and the search as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.find.ascent import refine_pose
from tear3d.problem.limits import Limits
from tear3d.prove.bounds.slopes import CENTRE, LONE, SLOPE, SUMS, VALUE, slope_bound
from tear3d.prove.bounds.votes import BOUND, NODE, VOXELS, T, vote
from tear3d.prove.domains.rotations import COSINE, FRAME, REMAINDER, cell_frame, chart_of, rotation_at
from tear3d.prove.pose import subtree as kernel
from tear3d.prove.pose.frontier import ready, roots, split
from tear3d.prove.pose.points import pack_pairs
from tear3d.prove.pose.solve import solve_full
from tear3d.synthetic import make_problem, random_rotation
from tests import naive
from tests.real_data import pairs_dir

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)


def mixed_pairs(rng, n=60, unequal=False):
    """Some pairs that agree, with noise up to the edge of the noise bound, and others that do not."""
    x = rng.normal(size=(n, 3)) * rng.uniform(0.2, 2.0)
    xi = np.full(n, 0.2) if not unequal else rng.uniform(0.05, 0.4, n)
    w = np.ones(n) if not unequal else rng.uniform(0.1, 3.0, n)
    y = x @ random_rotation(rng).T + rng.uniform(-1, 1, (n, 3)) * 0.2
    y[n // 2 :] = rng.normal(size=(n - n // 2, 3)) * 2.0
    return x, y, xi, w


def random_box(rng, largest=0.3):
    half = largest * rng.uniform(0.02, 1.0) * rng.uniform(0.3, 1.0, 3)
    centre = rng.uniform(half - 1.0, 1.0 - half) * rng.choice([0.0, 0.3, 1.0])
    return np.concatenate([centre - half, centre + half])


def poses_in(rng, node, x, y, count):
    """Poses (g, t) of a node: inside, on its sides and corners, and with t through a pair where that is inside."""
    face = int(node[13])
    for k in range(count):
        mix = rng.choice([0.0, 1.0], (2, 3)) if k % 3 == 0 else rng.uniform(size=(2, 3))
        g = node[:3] + mix[0] * (node[3:6] - node[:3])
        t = node[6:9] + mix[1] * (node[9:12] - node[6:9])
        rotation = naive.chart_rotation(face, g)
        if k % 3 == 1:
            i = rng.integers(len(x))
            t = np.clip(y[i] - rotation @ x[i], node[6:9], node[9:12])
        yield g, t, rotation


def planted_pairs(rng, node, n, xi):
    """n pairs that agree with one extreme pose of the node up to residuals along an axis or along R x; (x, y, R, t)."""
    corner = rng.choice([0.0, 1.0], (2, 3)) if rng.uniform() < 0.7 else rng.uniform(size=(2, 3))
    rotation = naive.chart_rotation(int(node[13]), node[:3] + corner[0] * (node[3:6] - node[:3]))
    t = node[6:9] + corner[1] * (node[9:12] - node[6:9])
    x = rng.normal(size=(n, 3)) * rng.uniform(0.2, 2.0)
    x -= x.mean(axis=0) if n > 1 else 0.0
    moved = x @ rotation.T
    along = np.where(rng.uniform(size=(n, 1)) < 0.5, moved, np.eye(3)[rng.integers(3, size=n)])
    size = rng.choice([-1.0, 1.0], (n, 1)) * rng.uniform(rng.choice([0.0, 0.97]), 0.99, (n, 1)) * xi
    return x, moved + t + size * along / np.abs(along).sum(axis=1, keepdims=True), rotation, t


def packed_at_origin(x, y, xi, w):
    """Packed so that packed coordinates are the given ones, apart from the mean."""
    x = x - x.mean(axis=0)
    return x, pack_pairs(x, y, xi, w, np.eye(3), np.zeros(3))


# ---------------------------------------------------------------- chart


@given(seeds)
@few
def test_charts_cover_all_rotations_once(seed):
    rotation = random_rotation(np.random.default_rng(seed))
    face, g = chart_of(rotation)
    assert np.abs(g).max() <= 1.0 + 1e-12
    assert np.allclose(rotation_at(face, g), rotation, atol=1e-12)
    assert np.allclose(naive.chart_rotation(face, g), rotation, atol=1e-12)


@given(seeds)
@few
def test_points_move_as_the_frame_of_a_cell_says(seed):
    rng = np.random.default_rng(seed)
    box, face, frame = random_box(rng), int(rng.integers(4)), np.empty(FRAME)
    assert cell_frame(face, box, frame)
    centre, axes = frame[:9].reshape(3, 3), frame[9:18].reshape(3, 3)
    middle = 0.5 * (box[:3] + box[3:])
    for k in range(30):
        g = box[:3] + (rng.choice([0.0, 1.0], 3) if k % 2 else rng.uniform(size=3)) * (box[3:] - box[:3])
        x = rng.normal(size=3)
        moved, p = naive.chart_rotation(face, g) @ x, centre @ x
        rest = moved - p - np.cross((g - middle) @ axes, p)
        assert np.linalg.norm(rest) <= frame[REMAINDER] * np.linalg.norm(x)
        angle_cosine = moved @ p / (np.linalg.norm(moved) * np.linalg.norm(p))
        assert angle_cosine >= frame[COSINE] - 1e-12


def test_the_remainder_is_of_second_order():
    frame = np.empty(FRAME)
    rests = []
    for half in (0.1, 0.05):
        cell_frame(0, np.array([0.3] * 3 + [0.3] * 3) + half * np.array([-1, -1, -1, 1, 1, 1]), frame)
        rests.append(frame[REMAINDER])
    assert 3.5 < rests[0] / rests[1] < 4.6


# ---------------------------------------------------------------- votes


@given(seeds, st.booleans(), st.floats(0.0, 20.0))
@few
def test_votes_bound_every_pose_that_they_leave(seed, unequal, threshold):
    rng = np.random.default_rng(seed)
    x, y, xi, w = mixed_pairs(rng, unequal=unequal)
    x, p = packed_at_origin(x, y, xi, w)
    face = float(rng.integers(4))
    before = np.array([*random_box(rng), *p.low, *p.high, p.total, face])
    node = before.copy()[None]
    boxes, grid = np.empty((8, len(x))), np.empty(VOXELS, np.int32)
    _, cut = vote(p.points, p.votes, p.unit, node, threshold, np.array([p.xi, p.radius]), p.eps, boxes, grid)
    assert cut <= threshold
    for _, t, rotation in poses_in(rng, before, x, y, 40):
        saving = naive.full_saving(x, y, xi, w, rotation, t)
        if saving > threshold:
            assert saving <= node[0, BOUND]
            assert np.all(node[0, T : T + 3] <= t)
            assert np.all(t <= node[0, T + 3 : T + 6])


@given(seeds)
@settings(max_examples=300, deadline=None)
def test_votes_keep_an_extreme_pose_that_pairs_agree_on(seed):
    rng = np.random.default_rng(seed)
    n, xi, face = int(rng.integers(2, 5)), 0.2, float(rng.integers(4))
    centre, side = rng.normal(size=3), rng.uniform(0.01, 1.0, 3)
    before = np.array([*random_box(rng, 0.1), *(centre - side), *(centre + side), n * xi * (1 + 1e-9), face])
    x, y, rotation, t = planted_pairs(rng, before, n, xi)
    p = pack_pairs(x, y, np.full(n, xi), np.ones(n), np.eye(3), np.zeros(3))
    saving = naive.full_saving(x, y, xi, 1.0, rotation, t)
    node, boxes, grid = before[None].copy(), np.empty((8, n)), np.empty(VOXELS, np.int32)
    scale = np.array([xi, p.radius])
    vote(p.points, p.votes, p.unit, node, rng.uniform(0.8, 0.999) * saving, scale, p.eps, boxes, grid)
    assert saving <= node[0, BOUND]
    assert np.all(node[0, T : T + 3] <= t + 1e-12)
    assert np.all(t <= node[0, T + 3 : T + 6] + 1e-12)


def test_votes_are_tight_for_a_small_cell():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    x -= x.mean(axis=0)
    y = np.concatenate([x[:50], rng.normal(size=(150, 3)) * 5.0])
    p = pack_pairs(x, y, np.full(200, 0.05), np.ones(200), np.eye(3), np.zeros(3))
    node = np.array([[*[-1e-4] * 3, *[1e-4] * 3, *p.low, *p.high, p.total, 0.0]])
    boxes, grid = np.empty((8, 200)), np.empty(VOXELS, np.int32)
    vote(p.points, p.votes, p.unit, node, 1.25, np.array([p.xi, p.radius]), p.eps, boxes, grid)
    assert 50 * 0.05 <= node[0, BOUND] <= 54 * 0.05
    assert np.all(node[0, 9:12] - node[0, 6:9] < 0.2)


def test_roots_and_children_cover_their_parents():
    rng = np.random.default_rng(0)
    nodes = roots(np.full(3, -1.0), np.ones(3), 5.0)
    for _ in range(3):
        g = rng.uniform(-1, 1, (200, 3))
        for face in range(4):
            inside = (nodes[:, 13] == face)[None] & np.all(
                (nodes[None, :, :3] <= g[:, None]) & (g[:, None] <= nodes[None, :, 3:6]), axis=2
            )
            assert np.all(inside.sum(axis=1) == 1)
        nodes = split(nodes, 1.0)
    assert nodes.shape[1] == NODE
    assert not ready(nodes, 1e-3, 1.0).any()


# ---------------------------------------------------------------- slopes


def sums_of(p, node, toward):
    frame, sums, active = np.empty(FRAME), np.empty(SUMS), np.empty(p.points.shape[1], np.int32)
    cell_frame(int(node[13]), node, frame)
    middle, half = 0.5 * (node[6:9] + node[9:12]), 0.5 * (node[9:12] - node[6:9])
    found = slope_bound(p.points, 0, p.points.shape[1], frame, middle, half, toward, p.eps, active, sums)
    return sums, set(active[:found].tolist())


@given(seeds, st.booleans())
@few
def test_slopes_lie_above_the_saving_in_the_whole_box(seed, unequal):
    rng = np.random.default_rng(seed)
    x, y, xi, w = mixed_pairs(rng, unequal=unequal)
    x, p = packed_at_origin(x, y, xi, w)
    box, face = random_box(rng, 0.1), int(rng.integers(4))
    side = 0.3 * rng.uniform(0.01, 1.0) * rng.uniform(0.2, 1.0, 3)
    i = rng.integers(len(x))
    centre = y[i] - naive.chart_rotation(face, 0.5 * (box[:3] + box[3:])) @ x[i] + rng.normal(size=3) * 0.05
    node = np.array([*box, *(centre - side), *(centre + side), p.total, face])
    middle = np.concatenate([0.5 * (box[:3] + box[3:]), centre])
    half = np.concatenate([0.5 * (box[3:] - box[:3]), side])
    toward = rng.uniform(-1, 1, 6) * half * rng.choice([0.0, 1.0])
    sums, active = sums_of(p, node, toward)
    for g, t, rotation in poses_in(rng, node, x, y, 60):
        saving = naive.full_saving(x, y, xi, w, rotation, t)
        offset = np.concatenate([g, t]) - middle
        assert saving <= sums[VALUE] + sums[SLOPE : SLOPE + 6] @ offset + 1e-9
        assert saving <= sums[LONE] + 1e-9
        saved = np.flatnonzero(xi - np.abs(y - x @ rotation.T - t).sum(axis=1) > 1e-12)
        assert set(saved.tolist()) <= active


@given(seeds)
@settings(max_examples=300, deadline=None)
def test_slopes_and_shrinking_keep_an_extreme_pose_that_pairs_agree_on(seed):
    rng = np.random.default_rng(seed)
    n, xi, face = int(rng.integers(2, 12)), 0.2, int(rng.integers(4))
    centre, side = rng.normal(size=3), xi * rng.uniform(0.01, 2.0) * rng.uniform(0.2, 1.0, 3)
    node = np.array([*random_box(rng, 0.1), *(centre - side), *(centre + side), n * xi, face])
    x, y, rotation, t = planted_pairs(rng, node, n, xi)
    p = pack_pairs(x, y, np.full(n, xi), np.ones(n), np.eye(3), np.zeros(3))
    saving = naive.full_saving(x, y, xi, 1.0, rotation, t)
    half = np.concatenate([0.5 * (node[3:6] - node[:3]), side])
    sums, _ = sums_of(p, node, rng.choice([-1.0, 0.0, 1.0], 6) * half)
    bound = sums[VALUE] + np.abs(sums[SLOPE : SLOPE + 6]) @ half
    assert saving <= bound + 1e-9
    assert saving <= sums[LONE] + 1e-9
    threshold = rng.uniform(0.9, 0.999) * saving
    kernel._shrink(node, half, sums, bound, threshold)
    assert np.all(node[6:9] <= t + 1e-9)
    assert np.all(t <= node[9:12] + 1e-9)
    g = chart_of(rotation)[1] if chart_of(rotation)[0] == face else 0.5 * (node[:3] + node[3:6])
    assert np.all(node[:3] <= g + 1e-9)
    assert np.all(g <= node[3:6] + 1e-9)


@given(seeds)
@few
def test_shrinking_cuts_only_where_the_affine_bound_is_low(seed):
    rng = np.random.default_rng(seed)
    half, slopes = rng.uniform(0.1, 1.0, 6), rng.normal(size=6) * rng.choice([0.1, 1.0, 5.0], 6)
    sums = np.zeros(SUMS)
    sums[VALUE], sums[SLOPE : SLOPE + 6] = 1.0, slopes
    bound = 1.0 + np.abs(slopes) @ half
    threshold = bound - rng.uniform(0.01, 1.0) * np.abs(slopes) @ half
    low, high = [0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]
    node = np.zeros(NODE)
    node[low], node[high] = -half, half
    left = kernel._shrink(node, half, sums, bound, threshold)
    assert left == pytest.approx(np.prod((node[high] - node[low]) / (2.0 * half)), abs=1e-6)
    for _ in range(200):
        pose = np.sign(slopes) * half * (1.0 - 2.0 * rng.uniform(size=6) * (rng.uniform(size=6) < 0.3))
        if 1.0 + slopes @ pose > threshold:
            assert np.all((node[low] <= pose) & (pose <= node[high]))


def test_slopes_are_sharp_to_second_order():
    """With an optimum in the box, away from its centre, halving the box divides the excess by about four."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 3))
    x -= x.mean(axis=0)
    y = x + rng.uniform(-1, 1, x.shape) * 0.07
    xi, w = np.full(len(x), 0.2), np.ones(len(x))
    rotation, t, saving = refine_pose(x, y, xi, w, np.eye(3), np.zeros(3))
    p = pack_pairs(x, y, xi, w, rotation, t)
    excess = []
    for size in (0.006, 0.003):
        low, high = np.full(6, -0.3 * size), np.full(6, size)
        node = np.array([*low[:3], *high[:3], *low[3:], *high[3:], p.total, 0.0])
        sums, _ = sums_of(p, node, -0.5 * (low + high))
        excess.append(sums[VALUE] + np.abs(sums[SLOPE : SLOPE + 6]) @ (0.5 * (high - low)) - saving)
        assert sums[CENTRE] < saving
    assert 0.0 <= excess[1] < excess[0] / 2.5
    assert excess[1] < 0.06 * saving


# ---------------------------------------------------------------- subtree


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_a_finished_subtree_has_bounded_its_box(seed):
    rng = np.random.default_rng(seed)
    x, y, xi, w = mixed_pairs(rng, 40)
    x, p = packed_at_origin(x, y, xi, w)
    face = int(rng.integers(2))
    box = random_box(rng, 0.05)
    i = rng.integers(20)
    centre = y[i] - naive.chart_rotation(face, 0.5 * (box[:3] + box[3:])) @ x[i]
    node = np.array([*box, *(centre - 0.1), *(centre + 0.1), p.total, face])
    task, scratch = kernel.make_task(node, 0.1), kernel.make_scratch(len(x))
    setting = kernel.Setting(xi=p.xi, radius=p.radius, eps=p.eps, slack=0.05)
    slices = 0
    while task.count[kernel.TOP] > 0:
        kernel.search_subtree(p.points, setting, task, scratch, 20_000, 2**40)
        slices += 1
    bound = max(task.state[kernel.CLOSED], task.state[kernel.SAVING])
    assert bound <= 1.05 * task.state[kernel.SAVING] * (1 + 1e-12)
    if task.state[kernel.SAVING] > 0.1:
        best = task.best
        value = naive.full_saving(x, y, xi, w, naive.chart_rotation(int(best[0]), best[1:4]), best[4:7])
        assert value == pytest.approx(task.state[kernel.SAVING], abs=1e-9)
    for _, t, rotation in poses_in(rng, node, x, y, 200):
        assert naive.full_saving(x, y, xi, w, rotation, t) <= bound


# ---------------------------------------------------------------- the search


def synthetic(n, outliers, seed=0):
    p = make_problem(n, outliers, seed=seed)
    rotation, t, saving = refine_pose(p.source, p.target, p.noise_bound, 1.0, p.rotation, p.translation)
    return p.source, p.target, p.noise_bound, (rotation, t), saving


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unequal", [False, True])
def test_tiny_problems_against_brute_force(seed, unequal):
    rng = np.random.default_rng(seed)
    x, y, xi, w = mixed_pairs(rng, 10, unequal)
    solution = solve_full(x, y, xi, w, incumbent=(np.eye(3), np.zeros(3)), rel_gap=0.1, threads=2)
    best = naive.best_pose(x, y, xi, w, seed=seed, starts=200)[0]
    assert solution.closed
    assert best <= solution.saving_bound
    assert best <= solution.saving * 1.1
    assert naive.full_saving(x, y, xi, w, solution.rotation, solution.translation) == pytest.approx(solution.saving)
    assert np.allclose(solution.rotation @ solution.rotation.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(("n", "outliers"), [(1000, 0.9), (500, 0.5), (300, 0.0), (300, 0.95)])
def test_the_papers_problem_closes(n, outliers):
    x, y, xi, pose, saving = synthetic(n, outliers)
    solution = solve_full(x, y, xi, incumbent=pose, threads=2)
    assert solution.closed
    assert solution.ended_by == "gap"
    assert saving <= solution.saving + 1e-12 <= solution.saving_bound + 1e-12
    stage = solution.certificate("full problem")
    assert stage.name == "full problem"
    assert stage.gap <= 0.01
    assert stage.lower_bound <= stage.objective == pytest.approx(n * xi - solution.saving)
    assert len(stage.history)
    assert stage.visited.shape[1] == 6
    assert np.allclose(np.linalg.norm(stage.visited[:, :3], axis=1), 1.0)


def test_a_poor_incumbent_is_improved():
    x, y, xi, pose, saving = synthetic(200, 0.7)
    start = naive.chart_rotation(0, [0.01, -0.005, 0.01]) @ pose[0], pose[1] + 0.3 * xi
    assert naive.full_saving(x, y, xi, 1.0, *start) < 0.7 * saving
    solution = solve_full(x, y, xi, incumbent=start, threads=2)
    assert solution.closed
    assert solution.saving >= saving / 1.01
    assert np.linalg.norm(solution.rotation - pose[0]) < 0.05


def test_the_same_for_any_number_of_threads():
    x, y, xi, pose, _ = synthetic(300, 0.9, seed=4)
    worse = pose[0], pose[1] + 0.2 * xi
    one, two, three = (solve_full(x, y, xi, incumbent=worse, threads=k) for k in (1, 2, 3))
    for other in (two, three):
        assert (other.saving, other.saving_bound, other.cells) == (one.saving, one.saving_bound, one.cells)
        assert np.array_equal(other.rotation, one.rotation)
        assert np.array_equal(other.translation, one.translation)


def test_far_off_coordinates_and_scale():
    x, y, xi, pose, saving = synthetic(300, 0.8)
    shift = np.array([3e5, -2e5, 1e5])
    moved = pose[0], pose[1] + shift - pose[0] @ shift
    solution = solve_full(x + shift, y + shift, xi, incumbent=moved, threads=2)
    assert solution.closed
    assert solution.saving == pytest.approx(saving, rel=1e-6)
    solution = solve_full(1e-3 * x, 1e-3 * y, 1e-3 * xi, incumbent=(pose[0], 1e-3 * pose[1]), threads=2)
    assert solution.closed
    assert solution.saving == pytest.approx(1e-3 * saving, rel=1e-9)


def test_a_weight_of_two_is_a_pair_twice():
    x, y, xi, pose, _ = synthetic(150, 0.8)
    w = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)
    twice = np.concatenate([np.arange(150), np.arange(0, 150, 3)])
    a = solve_full(x, y, xi, w, incumbent=pose, threads=2)
    b = solve_full(x[twice], y[twice], xi, incumbent=pose, threads=2)
    assert a.closed
    assert b.closed
    assert a.saving == pytest.approx(b.saving, rel=0.01)
    assert a.total == pytest.approx(b.total)


@pytest.mark.parametrize("limit", [0, 20, 500, 3000])
def test_a_node_limit_leaves_an_honest_bound(limit):
    x, y, xi, _pose, saving = synthetic(300, 0.9)
    poor = random_rotation(np.random.default_rng(0)), np.zeros(3)
    limits = Limits(node_limit=limit)
    solution = solve_full(x, y, xi, incumbent=poor, limits=limits, threads=2)
    assert solution.saving_bound >= saving
    assert solution.cells == limits.cells <= limit
    assert not solution.closed
    assert solution.ended_by == "node_limit"


def test_time_limit_and_cancellation_leave_an_honest_bound():
    x, y, xi, pose, saving = synthetic(300, 0.95)
    ended = solve_full(x, y, xi, incumbent=pose, limits=Limits(time_limit=0.0))
    assert ended.ended_by == "time_limit"
    assert ended.saving_bound >= saving
    assert ended.cells == 0
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) < 2

    limits = Limits(progress=stop, interval=0.0)
    ended = solve_full(x, y, xi, incumbent=pose, limits=limits, rel_gap=1e-4, threads=2)
    assert ended.ended_by == "interrupted"
    assert not ended.closed
    assert ended.saving_bound >= saving
    assert seen[0].stage == "full problem"
    assert seen[0].saving_bound >= ended.saving


def test_pairs_without_weight_and_empty_problems():
    x, y, xi, pose, _ = synthetic(100, 0.5)
    w = (np.arange(100) % 2).astype(float)
    half = solve_full(x, y, xi, w, incumbent=pose)
    only = solve_full(x[1::2], y[1::2], xi, incumbent=pose)
    assert (half.saving, half.saving_bound) == (only.saving, only.saving_bound)
    nothing = solve_full(x, y, xi, np.zeros(100), incumbent=pose)
    assert nothing.closed
    assert nothing.saving_bound == 0.0
    single = solve_full(x[:1], y[:1], xi, incumbent=(np.eye(3), np.zeros(3)))
    assert single.closed
    assert single.saving == pytest.approx(xi)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((3, 100))}, "x has shape"),
        ({"y": np.zeros((99, 3))}, "expected pairs"),
        ({"y": np.full((100, 3), np.nan)}, "not finite"),
        ({"xi": np.ones(7)}, "xi has shape"),
        ({"xi": -1.0}, "xi has entries"),
    ],
)
def test_bad_input_is_named(change, message):
    problem = {"x": np.ones((100, 3)), "y": np.ones((100, 3)), "xi": 0.1} | change
    with pytest.raises(InputError, match=message):
        solve_full(**problem, incumbent=(np.eye(3), np.zeros(3)))


@pytest.mark.slow
def test_a_real_pair_closes():
    folder = pairs_dir()
    if folder is None:
        pytest.skip("real data not found (set TEAR3D_DATA)")
    data = np.load(folder / "stanford_dragon_120_144_fpfh.npz")
    x, y, xi = data["src"].astype(np.float64), data["dst"].astype(np.float64), float(data["xi"])
    truth = data["T_gt"]
    rotation, t, _ = refine_pose(x, y, xi, 1.0, truth[:3, :3], truth[:3, 3])
    solution = solve_full(x, y, xi, incumbent=(rotation, t), threads=2)
    assert solution.closed
    assert np.linalg.norm(solution.rotation - rotation) < 0.02
