"""What a result of clouds prints is about the pose that it has."""

from __future__ import annotations

import numpy as np

import tear3d
from tear3d.result import matrix_text


def test_the_pose_that_is_printed_is_that_of_the_clouds():
    turn = tear3d.synthetic.random_rotation(np.random.default_rng(5))
    lower, upper = tear3d.shapes.teapot(8000, seed=1), tear3d.shapes.teapot(8000, seed=2) @ turn.T
    found = tear3d.register_clouds(lower, upper, certify=False)
    assert found.refinement is not None
    text = str(found)
    assert matrix_text(found.transformation) in text
    assert matrix_text(found.result.transformation) not in text
    assert str(found.result).splitlines()[0] in text
