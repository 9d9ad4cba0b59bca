"""What most tests of the command line start from."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.cli import session
from tear3d.io.pairs import write_pairs
from tear3d.synthetic import make_problem
from tests.bumpy import apply, bumpy_cloud
from tests.cli.support import FOUND, FakeAligner, FakeSolver


@pytest.fixture
def solver(monkeypatch):
    fake = FakeSolver()
    monkeypatch.setattr(tear3d, "register", fake, raising=False)
    monkeypatch.setattr(session.kernels, "cold", lambda names: [])
    return fake


@pytest.fixture
def pairs_file(tmp_path):
    problem = make_problem(200, 0.5, rotation=np.eye(3), translation=[0, 0, 0])
    path = tmp_path / "pairs.npz"
    write_pairs(path, problem.source, problem.target, noise_bound=problem.noise_bound, weights=np.ones(200))
    return path


@pytest.fixture
def aligner(monkeypatch):
    fake = FakeAligner()
    monkeypatch.setattr(tear3d, "register_clouds", fake, raising=False)
    monkeypatch.setattr(session.kernels, "cold", lambda names: [])
    return fake


@pytest.fixture
def files(tmp_path):
    cloud = bumpy_cloud(600, 0)
    np.save(tmp_path / "a.npy", cloud)
    np.savetxt(tmp_path / "b.xyz", apply(FOUND, cloud), fmt="%.17g")
    return tmp_path / "a.npy", tmp_path / "b.xyz"
