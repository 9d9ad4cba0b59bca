import sys

import numpy as np
import pytest

from tear3d.errors import InputError, MissingExtraError
from tear3d.refine import refine_icp
from tests.bumpy import apply, bumpy_cloud, pose

TRUTH = pose([0.4, -0.2, 1.0], [3.0, 1.0, -2.0])


def worst_error(T, truth, points):
    return np.linalg.norm(apply(T, points) - apply(truth, points), axis=1).max()


@pytest.fixture(scope="module")
def clouds():
    pytest.importorskip("small_gicp")
    return bumpy_cloud(12_000, 0), apply(TRUTH, bumpy_cloud(12_000, 1))


def disturbed(truth, scale=1.0):
    nudge = pose([0.03, -0.02, 0.03], np.array([0.03, 0.02, -0.03]) * scale)
    return truth @ nudge


@pytest.mark.parametrize(("method", "accuracy"), [("gicp", 0.004), ("plane", 0.01), ("icp", 0.03)])
def test_methods_recover_the_pose(clouds, method, accuracy):
    source, target = clouds
    start = disturbed(TRUTH)
    found = refine_icp(source, target, start, method=method, voxel_size=0.05)
    assert worst_error(start, TRUTH, source) > 0.06
    assert worst_error(found.transformation, TRUTH, source) < accuracy
    assert found.converged
    assert found.fitness > 0.99
    assert found.rmse < found.initial_rmse < found.max_distance


@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 0.0), (1e4, 0.0), (1.0, 5e6)])
def test_scale_and_offset_do_not_matter(clouds, scale, offset):
    source, target = clouds[0] * scale + offset, clouds[1] * scale - offset
    truth = TRUTH.copy()
    truth[:3, 3] = scale * TRUTH[:3, 3] - offset - TRUTH[:3, :3] @ np.full(3, offset)
    start = truth @ pose([0, 0, 0], np.array([0.03, 0.02, -0.03]) * scale)
    found = refine_icp(source, target, start)
    assert worst_error(found.transformation, truth, source) < 0.006 * scale


def test_fitness_and_rmse_are_what_they_say(clouds):
    source, target = clouds
    found = refine_icp(source[:3000], target[:200], TRUTH, voxel_size=1e-6, max_distance=0.02)
    nearest = np.linalg.norm(apply(found.transformation, source[:3000])[:, None] - target[:200], axis=2).min(axis=1)
    near = nearest[nearest < 0.02]
    assert found.fitness == pytest.approx(len(near) / 3000)
    assert found.rmse == pytest.approx(np.sqrt(np.mean(near**2)))


def test_same_bits_for_any_number_of_threads(clouds):
    one, two = (refine_icp(*clouds, disturbed(TRUTH), voxel_size=0.05, threads=n) for n in (1, 2))
    assert np.array_equal(one.transformation, two.transformation)


def test_without_overlap_the_start_is_kept(clouds):
    far = pose([0, 0, 0], [100.0, 0, 0])
    found = refine_icp(*clouds, far, voxel_size=0.05)
    assert np.allclose(found.transformation, far)
    assert found.fitness == 0.0
    assert np.isnan(found.rmse)


@pytest.mark.parametrize(
    ("T", "options", "message"),
    [
        (np.eye(3), {}, "4×4"),
        (np.diag([2.0, 2, 2, 1]), {}, "rotation"),
        (np.diag([1.0, 1, -1, 1]), {}, "rotation"),
        (np.full((4, 4), np.nan), {}, "T"),
        (np.eye(4), {"method": "ndt"}, "method"),
        (np.eye(4), {"max_distance": -1.0}, "max_distance"),
        (np.eye(4), {"voxel_size": 0.0}, "voxel_size"),
    ],
)
def test_bad_input(clouds, T, options, message):
    with pytest.raises(InputError, match=message):
        refine_icp(*clouds, T, **options)


def test_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "small_gicp", None)
    with pytest.raises(MissingExtraError, match=r"tear3d\[clouds\]"):
        refine_icp(bumpy_cloud(100, 0), bumpy_cloud(100, 0), np.eye(4))
