import numpy as np
import pytest

from tear3d.features.normals import flattest, neighbourhood_covariances


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 1e-9), (1, 1, 0), (1, 1e-12, 1e-12), (1e-150, 1e-150, 1e-151)])
def test_flattest_direction_is_that_of_lapack(shape):
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(500, 3)) * shape, rng.integers(0, 500, (200, 20)).astype(np.int32)
    least, normals = flattest(points, rows)
    covariances = neighbourhood_covariances(points, rows)
    values = np.linalg.eigvalsh(covariances)
    assert np.all(np.abs(least - values[:, 0]) <= 1e-14 * values[:, 2])
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-14)
    left = np.einsum("ijk,ik->ij", covariances, normals) - least[:, None] * normals
    assert np.all(np.linalg.norm(left, axis=1) <= 1e-14 * values[:, 2])


def test_points_that_coincide_have_some_direction():
    least, normals = flattest(np.ones((3, 3)), np.array([[0, 1, 2]], dtype=np.int32))
    assert least[0] == 0.0
    assert np.linalg.norm(normals[0]) == 1.0
