import numpy as np
from scipy.spatial.transform import Rotation

from tear3d.problem.turns import turns_by


def test_turns_by_vectors():
    rng = np.random.default_rng(0)
    lengths = np.concatenate(([0.0, 1e-300, 1e-12, 1e-6, np.pi, 2.0 * np.pi], rng.uniform(0.0, 7.0, 50)))
    vectors = rng.normal(size=(len(lengths), 3))
    vectors *= (lengths / np.linalg.norm(vectors, axis=1))[:, None]
    found = turns_by(vectors)
    np.testing.assert_allclose(found, Rotation.from_rotvec(vectors).as_matrix(), rtol=0.0, atol=3e-15)
    np.testing.assert_array_equal(turns_by(vectors[7]), found[7])
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), np.tile(np.eye(3), (len(lengths), 1, 1)), atol=3e-15)
