"""What is measured of two clouds under a pose, against slow and obvious counts."""

import math

import numpy as np
import pytest

from tear3d.clouds.evidence import Scene
from tear3d.features.voxel import voxel_downsample
from tests.bumpy import apply, bumpy_cloud, pose

VOXEL = 0.1
TRUTH = pose([0.3, -0.4, 1.1], [2.0, -1.0, 0.5])


def no_tick(done):
    pass


def scene_of(source, target, voxel=VOXEL, threads=1):
    return Scene.of(voxel_downsample(source, voxel), voxel_downsample(target, voxel), voxel, threads, no_tick)


@pytest.fixture(scope="module")
def parts():
    source, target = bumpy_cloud(8000, 0), bumpy_cloud(8000, 1)
    return scene_of(source[source[:, 0] > -0.3], apply(TRUTH, target[target[:, 0] < 0.3]))


def near_share(own, other, T):
    moved = apply(T, own.points)
    return np.mean([np.linalg.norm(other.points - point, axis=1).min() <= VOXEL for point in moved])


def test_overlap_counts_the_points_with_a_neighbour_within_a_voxel(parts):
    found = parts.measure(TRUTH, TRUTH, 0.15)
    assert found.overlap_source == near_share(parts.source, parts.target, TRUTH)
    assert found.overlap_target == near_share(parts.target, parts.source, np.linalg.inv(TRUTH))
    assert found.overlap == min(found.overlap_source, found.overlap_target)
    assert found.voxel_size == VOXEL


def test_agreement_and_coverage_are_counted_along_the_axes_of_the_normals(parts):
    found = parts.measure(TRUTH, TRUTH, 0.15)
    turned = parts.source.normals @ TRUTH[:3, :3].T
    looks = []
    for own, other, T, normals in (
        (parts.source, parts.target, TRUTH, turned),
        (parts.target, parts.source, np.linalg.inv(TRUTH), parts.target.normals),
    ):
        moved = apply(T, own.points)
        partner = [int(np.linalg.norm(other.points - point, axis=1).argmin()) for point in moved]
        apart = np.linalg.norm(other.points[partner] - moved, axis=1)
        facing = np.abs(np.sum((own.normals @ T[:3, :3].T) * other.normals[partner], axis=1))
        looks.append((normals, apart <= VOXEL, apart <= 3 * VOXEL, (apart <= VOXEL) & (facing > math.cos(math.pi / 6))))
    near = looks[0][0][looks[0][1]]
    axes = np.linalg.eigh(near.T @ near)[1]
    agreement, coverage, support = [], [], []
    for normals, _, within, agree in looks:
        along = [(normals @ axis) ** 2 for axis in axes.T]
        agreement.append(np.prod([a[agree].sum() / a[within].sum() for a in along]) ** (1 / 3))
        coverage.append(np.prod([a[agree].sum() / a.sum() for a in along]) ** (1 / 3))
        support.append(min(a[agree].sum() for a in along))
    assert found.agreement == pytest.approx(min(agreement))
    assert found.coverage == pytest.approx(min(coverage))
    assert found.support == pytest.approx(min(support))
    assert found.fit == pytest.approx(math.sqrt(min(agreement) * min(coverage)))


def test_a_right_pose_fits_and_a_wrong_one_does_not(parts):
    right = parts.measure(TRUTH, TRUTH, 0.15)
    wrong_pose = TRUTH @ pose([0.0, 1.2, 0.0], [0.3, 0.0, 0.0])
    wrong = parts.measure(wrong_pose, wrong_pose, 0.15)
    assert right.fit > 0.5
    assert wrong.fit < 0.5 * right.fit
    assert right.residual < wrong.residual


def test_drift_is_how_far_the_points_moved_in_noise_bounds(parts):
    moved = pose([0.0, 0.0, 0.0], [0.0, 0.3, 0.0]) @ TRUTH
    assert parts.measure(moved, TRUTH, 0.15).drift == pytest.approx(2.0)
    assert parts.measure(TRUTH, TRUTH, 0.15).drift == 0.0


def test_a_pose_a_voxel_off_settles_where_the_clouds_agree(parts):
    off = pose([0.01, -0.02, 0.0], [0.08, 0.05, -0.06]) @ TRUTH
    settled = parts.settle(off)
    error = [
        np.linalg.norm(apply(T, parts.source.points) - apply(TRUTH, parts.source.points), axis=1).mean()
        for T in (off, settled)
    ]
    assert error[1] < 0.2 * error[0]
    assert parts.settle(off) is settled


def test_a_floor_on_a_floor_is_no_fit():
    """However large: it does not tell where along itself the pose is."""
    rng = np.random.default_rng(0)
    floor = np.column_stack((rng.uniform(0.0, 6.0, (40_000, 2)), rng.normal(0.0, 0.005, 40_000)))
    posts = [
        np.column_stack((rng.uniform(0, 0.4, (600, 2)) + at, rng.uniform(0.0, 1.5, 600))) for at in ([1, 1], [4, 2])
    ]
    source, target = np.vstack((floor, posts[0])), np.vstack((floor + np.array([0.05, 0.0, 0.0]), posts[1]))
    found = scene_of(source, target).measure(np.eye(4), np.eye(4), 0.15)
    assert found.overlap > 0.8
    assert found.fit < 0.1


def test_the_same_for_any_number_of_threads():
    source, target = bumpy_cloud(6000, 0), apply(TRUTH, bumpy_cloud(6000, 1))
    one, two = (scene_of(source, target, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.settle(TRUTH), two.settle(TRUTH))
    assert one.measure(TRUTH, TRUTH, 0.15) == two.measure(TRUTH, TRUTH, 0.15)


def test_huge_clouds_are_thinned_further():
    cloud = bumpy_cloud(120_000, 0)
    found = Scene.of(cloud, cloud, 0.001, 1, no_tick)
    assert max(len(found.source.points), len(found.target.points)) <= 50_000
    assert found.voxel_size > 0.001


def test_json_has_none_for_what_was_not_measured():
    from tear3d.clouds.verdict import CloudEvidence

    plain = CloudEvidence().to_dict()
    assert plain.pop("in_map") is False
    assert set(plain.values()) == {None}
    assert {"overlap", "fit", "contradicted", "perhaps_contradicted"} <= set(plain)
