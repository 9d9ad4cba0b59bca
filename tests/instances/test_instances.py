"""Several motions in one set of pairs, as `register` returns them."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.synthetic import Scene, make_problem, make_scene
from tests.real_data import require_pairs


def register(scene: Scene, k: int = 3, **options):
    given = {"noise_bound": scene.noise_bound, "max_instances": k, "certify": False}
    return tear3d.register(scene.source, scene.target, **(given | options))


def objects_of(scene: Scene, result: tear3d.Result) -> list[int]:
    """Which object each instance is: the one whose pairs it puts where they belong, up to half a bound; 0: none."""
    found = []
    for one in result.instances:
        off = []
        for number, truth in enumerate(scene.transformations, 1):
            own, change = scene.source[scene.labels == number], one.transformation - truth
            off.append(np.linalg.norm(own @ change[:3, :3].T + change[:3, 3], axis=1).mean())
        found.append(1 + int(np.argmin(off)) if min(off) < 0.5 * scene.noise_bound else 0)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_three_objects_are_found_and_no_fourth(seed):
    scene = make_scene(4000, (0.1, 0.07, 0.04), seed=seed)
    result = register(scene, 4)
    assert objects_of(scene, result) == [1, 2, 3]
    assert result.success
    assert not result.ambiguous
    assert np.mean(result.labels == scene.labels) > 0.99
    assert result.message.startswith("three motions, and what they leave could be chance; the first: ")


CASES = {
    "equal shares": ({"shares": (0.05, 0.05, 0.05)}, 3, 3),
    "five, five asked for": ({"shares": (0.04,) * 5}, 5, 5),
    "five, two asked for": ({"shares": (0.04,) * 5}, 2, 2),
    "seven, two asked for": ({"shares": (0.03,) * 7}, 2, 2),
    "one": ({"shares": (0.05,)}, 3, 1),
    "most pairs are right": ({"shares": (0.6, 0.3, 0.1)}, 5, 3),
    "a hundred to one": ({"shares": (0.5, 0.02)}, 3, 2),
    "compact": ({"shares": (0.1, 0.07, 0.04), "sizes": 0.15}, 3, 3),
    "of different sizes": ({"shares": (0.06, 0.06, 0.06), "sizes": (1.0, 0.3, 0.1)}, 3, 3),
}


@pytest.mark.parametrize("case", CASES)
def test_as_many_as_there_are(case):
    arguments, asked, expected = CASES[case]
    scene = make_scene(2500, **arguments, seed=7)
    found = objects_of(scene, register(scene, asked))
    assert len(found) == expected
    assert len(set(found) - {0}) == expected


@pytest.mark.parametrize("outliers", ["gaussian", "clustered", "plane", "off_centre"])
def test_wrong_pairs_make_no_instance(outliers):
    problem = make_problem(2000, 1.0 if outliers == "gaussian" else 0.9, outliers=outliers, seed=3)
    result = tear3d.register(
        problem.source, problem.target, noise_bound=problem.noise_bound, max_instances=3, certify=False
    )
    if outliers == "gaussian":
        assert (result.status, result.instances) == ("no_consensus", ())
    else:
        assert [one.num_inliers for one in result.instances] == [200]


@pytest.mark.parametrize(("degrees", "shift"), [(0.0, 4.0), (8.0, 0.0)])
def test_objects_with_nearly_the_same_motion_are_two(degrees, shift):
    scene = nearly_alike(degrees, shift)
    result = register(scene)
    assert objects_of(scene, result) == [1, 2]
    assert np.mean(result.labels[scene.labels == 2] == 2) > 0.85


def test_objects_within_two_noise_bounds_of_each_other_are_one():
    assert len(register(nearly_alike(0.0, 1.5)).instances) == 1


def nearly_alike(degrees: float, shift: float) -> Scene:
    """Two motions that differ by a turn about z and by so many noise bounds along x."""
    turn, poses = np.radians(degrees), np.tile(np.eye(4), (2, 1, 1))
    poses[1, :2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    poses[1, 0, 3] = shift * 0.0554
    return make_scene(5000, (0.1, 0.07), transformations=poses, seed=2)


def test_noise_beyond_its_bound_is_no_other_motion():
    """One object whose noise bound is that of one standard deviation: most of its pairs are outliers."""
    scene = make_scene(4000, (0.4,), seed=1)
    assert len(register(scene, 4, noise_bound=0.01).instances) == 1


def test_masks_do_not_overlap_and_each_is_about_what_is_left():
    scene = make_scene(3000, (0.3, 0.2, 0.1), seed=4)
    result = register(scene)
    first, second, third = result.instances
    assert np.sum([one.inlier_mask for one in result.instances], axis=0).max() == 1
    np.testing.assert_array_equal(first.transformation, result.transformation)
    np.testing.assert_array_equal(first.inlier_mask, result.inlier_mask)
    assert all(one.instances == () for one in result.instances)
    assert "among the 2100 pairs that the first one leaves: " in second.message
    assert "among the 1500 pairs that the first two leave: " in third.message
    # The objective is that of the pairs left: each saves less than what all of them would cost.
    assert second.saving + second.objective == pytest.approx(2100 * scene.noise_bound)


def test_each_is_proven():
    scene = make_scene(600, (0.3, 0.2), seed=5)
    result = register(scene, certify=True, threads=1)
    assert [one.status for one in result.instances] == ["optimal", "optimal"]
    for one in result.instances:
        assert one.certificate.gap <= 0.01
        assert np.isfinite(one.covariance).all()
    assert result.message.startswith("two motions, and what they leave could be chance; the first: no rotation and")
    assert "as much is not excluded" not in result.instances[1].message
    assert result.to_dict()["instances"][1]["certificate"]["closed"]
    assert sum(result.seconds.values()) >= sum(result.instances[1].seconds.values())


def test_one_motion_is_what_it_is_without_asking_for_more():
    problem = make_problem(2000, 0.9, seed=6)
    plain, several = (
        tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False, **more)
        for more in ({}, {"max_instances": 3})
    )
    np.testing.assert_array_equal(plain.transformation, several.transformation)
    assert plain.significance == several.significance
    assert plain.instances == ()
    assert several.message == f"one motion, and what it leaves could be chance; it: {plain.message}"


def test_threads_make_no_difference():
    scene = make_scene(3000, (0.1, 0.1, 0.05), seed=9)
    one, two = (register(scene, threads=threads) for threads in (1, 2))
    for a, b in zip(one.instances, two.instances, strict=True):
        assert a.transformation.tobytes() == b.transformation.tobytes()
        assert a.significance == b.significance


def test_weights_bounds_and_strays():
    rng = np.random.default_rng(0)
    scene = make_scene(2000, (0.2, 0.1), seed=10)
    bounds = scene.noise_bound * rng.uniform(0.8, 1.2, 2000)
    bounds[:50] = 0.0
    scene.source[scene.labels == 0] *= np.where(np.arange(1400) == 7, 1e9, 1.0)[:, None]
    result = register(scene, noise_bound=bounds, weights=rng.uniform(0.5, 1.0, 2000))
    assert objects_of(scene, result) == [1, 2]
    assert np.all(scene.labels[50:][result.labels[50:] == 2] == 2)


def test_what_does_not_go_together_is_refused():
    scene = make_scene(100, (0.5,), seed=1)
    with pytest.raises(tear3d.InputError, match="max_instances and certify='rows' do not go together"):
        register(scene, certify="rows")
    with pytest.raises(tear3d.InputError, match="max_instances and estimate_scale do not go together"):
        register(scene, estimate_scale=True)
    with pytest.raises(tear3d.InputError, match="max_instances is 0"):
        register(scene, 0)


@pytest.mark.parametrize("name", ["3dmatch_hotel3_8_15_fpfh", "kitti09_1391_1380_top3", "3dmatch_kitchen_0_3_fpfh"])
def test_real_matches_of_one_motion_have_no_second(name):
    """Those that came nearest to one: patches that go astray together."""
    data = np.load(require_pairs() / f"{name}.npz")
    result = tear3d.register(data["src"], data["dst"], noise_bound=float(data["xi"]), max_instances=3, certify=False)
    assert len(result.instances) == 1
