"""Scenes with several motions."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.synthetic import make_scene


def test_pairs_obey_the_motion_of_their_object():
    scene = make_scene(1000, (0.3, 0.2), seed=1)
    assert np.bincount(scene.labels).tolist() == [500, 300, 200]
    for number, pose in enumerate(scene.transformations, 1):
        own = scene.labels == number
        off = scene.target[own] - scene.source[own] @ pose[:3, :3].T - pose[:3, 3]
        assert 0.008 < off.std() < 0.012
    assert scene.noise_bound == pytest.approx(0.0554)


def test_objects_are_as_wide_as_asked_for():
    scene = make_scene(3000, (0.3, 0.3), sizes=(0.1, 0.5), seed=1)
    widths = [scene.source[scene.labels == number].std(axis=0).mean() for number in (1, 2)]
    assert widths == pytest.approx([0.1, 0.5], rel=0.1)


def test_same_arguments_same_scene_and_given_motions_are_used():
    poses = np.tile(np.eye(4), (2, 1, 1))
    one, two = (make_scene(50, (0.5, 0.5), transformations=poses, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.target, two.target)
    np.testing.assert_allclose(one.target, one.source, atol=0.06)


BAD = {
    "n": ({"n": 0}, "n is 0"),
    "too many": ({"shares": (0.6, 0.6)}, "shares is"),
    "negative": ({"shares": (-0.1,)}, "shares is"),
    "sizes": ({"sizes": (0.1, 0.2)}, "sizes is"),
    "width": ({"sizes": -1.0}, "sizes is"),
    "motions": ({"transformations": np.eye(4)}, r"transformations has shape \(4, 4\)"),
    "noise": ({"noise": -1.0}, "noise is"),
    "tau": ({"tau": 0.0}, "tau is"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    arguments, message = BAD[case]
    with pytest.raises(InputError, match=message):
        make_scene(**({"n": 10, "shares": (0.5,)} | arguments))
