"""The pivot search: right on synthetic and real problems, deterministic, not fooled by structure."""

import time

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.find.pivots import search_pivots
from tear3d.find.rounds import plan, sample_rows
from tear3d.find.search import find_pose, find_poses
from tear3d.metrics import rotation_error
from tear3d.problem.losses import CM, TEAR, TLS
from tear3d.problem.objective import full_saving, inlier_mask
from tear3d.synthetic import make_problem
from tests.real_data import pairs_dir


def is_right(found, problem):
    return (
        rotation_error(found.rotation, problem.rotation) < 2.0
        and np.linalg.norm(found.translation - problem.translation) < 0.1
    )


@pytest.mark.parametrize("n", [1000, 5000, 30_000])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.9, 0.95, 0.98, 0.99])
def test_paper_setup(n, ratio):
    for seed in range(2):
        p = make_problem(n, ratio, seed=seed)
        found = find_pose(p.source, p.target, p.noise_bound)
        assert is_right(found, p)
        assert found.significance < -5
        truth = full_saving(p.source, p.target, p.rotation, p.translation, p.noise_bound)
        assert found.saving >= 0.99 * truth


@pytest.mark.parametrize("kind", ["off_centre", "clustered", "second_motion", "plane"])
@pytest.mark.parametrize("ratio", [0.9, 0.95])
def test_structured_outliers(kind, ratio):
    p = make_problem(5000, ratio, outliers=kind, seed=11)
    found = find_pose(p.source, p.target, p.noise_bound)
    best_known = full_saving(p.source, p.target, p.rotation, p.translation, p.noise_bound)
    assert found.saving >= 0.99 * best_known
    if kind != "second_motion":  # there the other motion may be the larger consensus
        assert is_right(found, p)


def test_a_needle_in_a_million():
    p = make_problem(1_000_000, 0.998, seed=12)
    assert is_right(find_pose(p.source, p.target, p.noise_bound), p)


@pytest.mark.parametrize("loss", [TEAR, CM, TLS])
def test_every_loss_reports_its_own_saving(loss):
    p = make_problem(1000, 0.9, seed=13)
    found = find_pose(p.source, p.target, p.noise_bound, loss=loss)
    assert is_right(found, p)
    saving = full_saving(p.source, p.target, found.rotation, found.translation, p.noise_bound, None, loss)
    assert found.saving == pytest.approx(saving)
    mask = inlier_mask(p.source, p.target, found.rotation, found.translation, p.noise_bound)
    assert found.num_inliers == np.count_nonzero(mask)


def test_threads_change_nothing_and_seeds_are_honoured():
    p = make_problem(4000, 0.995, seed=14)
    first, second, third = (
        find_pose(p.source, p.target, p.noise_bound, threads=threads, seed=seed)
        for threads, seed in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(first.rotation, second.rotation)
    np.testing.assert_array_equal(first.translation, second.translation)
    assert (first.saving, first.pivots) == (second.saving, second.pivots)
    assert not np.array_equal(first.rotation, third.rotation)
    assert is_right(third, p)


@pytest.mark.parametrize(("offset", "scale"), [(1e6, 1.0), (0.0, 1e-6), (0.0, 1e5)])
def test_units_and_offsets_do_not_matter(offset, scale):
    p = make_problem(1000, 0.95, seed=15)
    found = find_pose(scale * p.source + offset, scale * p.target - offset, scale * p.noise_bound)
    assert rotation_error(found.rotation, p.rotation) < 2.0
    moved = (scale * p.source + offset) @ found.rotation.T + found.translation + offset
    inliers = np.linalg.norm(moved - scale * p.target, axis=1) < scale * p.noise_bound
    np.testing.assert_array_equal(inliers & p.inlier_mask, p.inlier_mask)


def test_noise_bounds_per_pair():
    p = make_problem(2000, 0.95, seed=16)
    rng = np.random.default_rng(16)
    xi = p.noise_bound * rng.uniform(0.8, 1.5, 2000)
    assert is_right(find_pose(p.source, p.target, xi), p)


def test_weights_choose_between_two_motions():
    p = make_problem(2000, 0.0, seed=17)
    q = make_problem(2000, 0.0, seed=18)
    source = p.source
    target = p.target.copy()
    target[1200:] = source[1200:] @ q.rotation.T + q.translation
    w = np.ones(2000)
    assert is_right(find_pose(source, target, p.noise_bound, w), p)
    w[:1200] = 0.1
    assert is_right(find_pose(source, target, p.noise_bound, w), q)
    w[:1200] = 0.0
    assert is_right(find_pose(source, target, p.noise_bound, w), q)


def test_several_distinct_poses():
    p = make_problem(1500, 0.0, seed=19)
    q = make_problem(1500, 0.0, seed=20)
    target = p.target.copy()
    target[900:] = p.source[900:] @ q.rotation.T + q.translation
    found = find_poses(p.source, target, p.noise_bound, top=3)
    assert is_right(found[0], p)
    assert len(found) <= 3
    assert any(is_right(candidate, q) for candidate in found[1:])
    savings = [c.saving for c in find_poses(p.source, target, p.noise_bound, top=3, rank="saving")]
    assert savings == sorted(savings, reverse=True)


def test_a_small_overlap_is_found_by_local_rounds():
    """All inliers in one corner, where most pairs of the scene are wrong but lengths often agree."""
    rng = np.random.default_rng(21)
    p = make_problem(4000, 0.0, seed=21)
    x = rng.uniform(-1.5, 1.5, (4000, 3))
    y = rng.uniform(-1.5, 1.5, (4000, 3))
    x[:60] = 0.3 * rng.uniform(-1, 1, (60, 3)) + 1.0
    y[:60] = x[:60] @ p.rotation.T + 0.02 * rng.normal(size=(60, 3))
    found = find_pose(x, y, 0.1)
    assert rotation_error(found.rotation, p.rotation) < 5.0


def test_far_outliers_do_not_spoil_single_precision():
    p = make_problem(1000, 0.8, seed=22)
    target = p.target.copy()
    target[~p.inlier_mask] *= 1e7
    assert is_right(find_pose(p.source, target, p.noise_bound), p)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_a_handful_of_pairs(n):
    p = make_problem(n, 0.0, seed=23)
    assert find_pose(p.source, p.target, p.noise_bound).num_inliers == n


@pytest.mark.parametrize("points", [np.zeros((10, 3)), np.outer(np.arange(10.0), [1, 0, 0])])
def test_degenerate_points_return_a_rotation(points):
    found = find_pose(points, points + 1.0, 0.1)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), atol=1e-9)
    assert found.num_inliers == 10


def test_time_limit_is_kept():
    p = make_problem(20_000, 1.0, seed=24)
    started = time.perf_counter()
    found = find_pose(p.source, p.target, p.noise_bound, time_limit=0.2)
    assert time.perf_counter() - started < 1.5
    assert found.ended_by == "time_limit"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((np.ones((2, 3)), np.ones((2, 3)), 0.1), "at least 3"),
        ((np.ones((5, 3)), np.ones((4, 3)), 0.1), "equal lengths"),
        ((np.ones((5, 3)), np.ones((5, 3)), np.ones(4)), "xi has 4 values"),
        ((np.ones((5, 3)), np.ones((5, 3)), 0.1, np.ones(3)), "w has 3 values"),
    ],
)
def test_bad_input(args, words):
    with pytest.raises(InputError, match=words):
        find_pose(*args)


def test_rounds_grow_up_to_all_pairs():
    rounds = list(plan(20_480))
    assert [r.pairs for r in rounds] == sorted(r.pairs for r in rounds)
    assert rounds[-1].pairs == rounds[-1].pivots == 20_480
    assert {r.pairs for r in plan(100)} == {100}


def test_kernel_finds_the_pose_around_an_inlier_and_nothing_without_one():
    p = make_problem(804, 0.9, seed=25)
    order = np.argsort(~p.inlier_mask, kind="stable")  # inliers first
    rows = sample_rows(p.source[order], p.target[order], np.full(804, p.noise_bound), 804)
    assert rows.shape == (7, 808)
    poses, scores = np.empty((804, 12)), np.empty(804)
    search_pivots(rows, TEAR, np.float32(0.5), np.inf, 0, 804, 30.0, 0.0, poses, scores)
    errors = [rotation_error(pose[:9].reshape(3, 3), p.rotation) for pose in poses[:80]]
    assert np.mean(np.array(errors) < 2.0) > 0.95
    assert np.count_nonzero(scores[80:]) <= 5  # nothing else has a support of 30


LIMITS = {"3dmatch": (15.0, 0.3), "kitti": (5.0, 0.6), "eth": (3.0, 0.5)}


@pytest.mark.skipif(pairs_dir() is None, reason="real data not found: set TEAR3D_DATA")
@pytest.mark.parametrize(
    "name",
    [
        "3dmatch_home_2_38_fpfh",
        "3dmatch_kitchen_21_34_fpfh",
        "3dmatch_macpp_demo",
        "eth_gazebo_summer_10_12_iss_fpfh",
        "eth_tls_facade_s2_s1_iss_fpfh",
        "kitti07_submap_2_4_fpfh",
        "kitti09_1391_1380_top3",
        "kitti09_210_191_fpfh",
        "kitti_turboreg_050_fpfh",
        "simpleicp_bunny_parts_fpfh",
        "stanford_bunny_000_270_fpfh",
        "stanford_dragon_120_72_fpfh",
    ],
)
def test_real_pairs(name):
    data = np.load(pairs_dir() / f"{name}.npz")
    xi, truth = float(data["xi"]), data["T_gt"]
    degrees, distance = LIMITS.get(name.split("_")[0].rstrip("0123456789"), (5.0, 3 * xi))
    found = find_pose(data["src"], data["dst"], xi)
    assert rotation_error(found.rotation, truth[:3, :3]) <= degrees
    assert np.linalg.norm(found.translation - truth[:3, 3]) <= distance
    assert found.significance < -2
