"""An edge of a pose graph, read back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.errors import InputError
from tear3d.io.g2o import g2o_edge
from tests.bumpy import pose

POSE = pose([0.4, -2.0, 1.5], [3.0, 1.0, -2.0])


def some_covariance(seed: int = 0) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(6, 6)) * np.array([1e-3] * 3 + [0.1] * 3)[:, None]
    return root @ root.T


def read_edge(line: str) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Vertices, measured pose, information: straight from the definition of the format."""
    name, *words = line.split()
    assert name == "EDGE_SE3:QUAT"
    assert len(words) == 2 + 7 + 21
    numbers = [float(word) for word in words[2:]]
    measured = np.eye(4)
    measured[:3, 3] = numbers[:3]
    measured[:3, :3] = Rotation.from_quat(numbers[3:7]).as_matrix()
    information = np.zeros((6, 6))
    rest = iter(numbers[7:])
    for row in range(6):
        for column in range(row, 6):
            information[row, column] = information[column, row] = next(rest)
    return [int(word) for word in words[:2]], measured, information


def test_round_trip():
    covariance = some_covariance()
    vertices, measured, information = read_edge(g2o_edge(POSE, covariance, 7, 12))
    assert vertices == [7, 12]
    np.testing.assert_allclose(measured, POSE, atol=1e-15)
    back = np.linalg.inv(information)
    np.testing.assert_allclose(back[:3, :3], covariance[3:, 3:], rtol=1e-6)
    np.testing.assert_allclose(4.0 * back[3:, 3:], covariance[:3, :3], rtol=1e-6)
    np.testing.assert_allclose(2.0 * back[3:, :3], covariance[:3, 3:], rtol=1e-6, atol=1e-12)


def test_the_cost_of_an_edge_is_the_square_of_the_normalised_error():
    covariance = some_covariance(1)
    _, measured, information = read_edge(g2o_edge(POSE, covariance))
    change = np.array([2e-4, -1e-4, 3e-4, 0.02, 0.01, -0.03])
    truth = POSE @ pose(change[:3], change[3:])
    # The error of an edge: the translation and the quaternion's vector part of measured⁻¹ · actual.
    delta = np.linalg.inv(measured) @ truth
    error = np.concatenate([delta[:3, 3], Rotation.from_matrix(delta[:3, :3]).as_quat(canonical=True)[:3]])
    assert error @ information @ error == pytest.approx(change @ np.linalg.solve(covariance, change), rel=1e-5)


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (np.full((6, 6), np.nan), "not known"),
        (np.zeros((6, 6)), "not positive definite"),
        (np.diag([1.0, 1.0, 1.0, 1.0, 1.0, -1.0]), "not positive definite"),
        (np.ones((6, 6)), "not positive definite"),
        (np.eye(3), "expected 6×6"),
    ],
)
def test_what_has_no_information_is_refused(covariance, message):
    with pytest.raises(InputError, match=message):
        g2o_edge(POSE, covariance)


def test_a_bad_pose_is_refused():
    with pytest.raises(InputError, match="4×4"):
        g2o_edge(np.eye(3), some_covariance())
