import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.features.iss import iss_keypoints
from tests.bumpy import bumpy_cloud

RADII = {"salient_radius": 0.3, "non_max_radius": 0.2}


def naive_keypoints(points, salient_radius, non_max_radius):
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    saliency = np.zeros(len(points))
    for i, row in enumerate(distances):
        near = points[row < salient_radius]
        if len(near) >= 5:
            third, second, first = np.linalg.eigvalsh(np.cov(near.T, bias=True))
            if second / first < 0.975 and third / second < 0.975:
                saliency[i] = third
    near = distances < non_max_radius
    # Points with the same neighbours are the same but for rounding, which chooses between them.
    largest = [saliency[i] >= saliency[near[i]].max() * (1.0 - 1e-9) for i in range(len(points))]
    good = np.flatnonzero((saliency > 0) & (near.sum(axis=1) >= 5) & largest)
    twins = (np.abs(saliency[good][:, None] - saliency) <= 1e-9 * saliency[good][:, None]) & near[good]
    return good.tolist(), twins.sum(axis=1) > 1


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_equals_the_naive_ones(seed):
    points, radii = bumpy_cloud(1500, seed), {"salient_radius": 0.6, "non_max_radius": 0.2}
    found = iss_keypoints(points, **radii)
    assert 5 < len(found) < 300
    good, has_twin = naive_keypoints(points, **radii)
    missing = ~np.isin(good, found)
    assert set(found) <= set(good)
    assert not np.any(missing & ~has_twin)
    assert missing.sum() <= 2
    assert np.array_equal(found, iss_keypoints(points, threads=1, **radii))


def test_of_equal_points_one_stays():
    points = np.repeat(bumpy_cloud(800, 3), 2, axis=0)
    found = iss_keypoints(points, **RADII)
    assert len(found) > 5
    assert len(np.unique(points[found], axis=0)) == len(found)


def test_the_corner_of_a_box_stands_out():
    side = np.random.default_rng(0).uniform(size=(3, 1500, 3))
    for axis in range(3):
        side[axis, :, axis] = 0.0
    box = np.vstack((*side, [[0.0, 0.0, 0.0]]))
    found = iss_keypoints(box, **RADII)
    assert np.linalg.norm(box[found], axis=1).min() < 0.2
    # On a face nothing varies along its normal: keypoints lie where an edge is in reach.
    assert np.sort(box[found], axis=1)[:, 1].max() < RADII["salient_radius"]


def test_few_points_and_bad_radius():
    assert len(iss_keypoints(np.zeros((2, 3)), **RADII)) == 0
    with pytest.raises(InputError, match="salient_radius"):
        iss_keypoints(np.zeros((9, 3)), salient_radius=-1.0, non_max_radius=1.0)


def test_agrees_with_open3d():
    open3d = pytest.importorskip("open3d")
    points = bumpy_cloud(3000, 3)
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    theirs = np.asarray(open3d.geometry.keypoint.compute_iss_keypoints(cloud, *RADII.values()).points)
    ours = points[iss_keypoints(points, **RADII)]
    same = {tuple(p) for p in ours} & {tuple(p) for p in theirs}
    assert len(same) > 0.9 * max(len(ours), len(theirs))
