"""What several tests of clouds start from."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tear3d.clouds.job as module
from tear3d.find.search import Candidate
from tear3d.problem.pose import Pose
from tear3d.result import Certificate, Result
from tests.bumpy import apply
from tests.clouds.support import TRUTH


@pytest.fixture
def solver(monkeypatch):
    """Stands in for the solver: answers with a given pose and remembers how it was called."""
    fake = SimpleNamespace(pose=TRUTH, status="optimal", calls=[])

    class FakePoses:
        def __init__(self, matched):
            self.matched = matched
            level = 1.0 if fake.status == "no_consensus" else -9.0
            self.candidates = [Candidate(Pose.from_matrix(fake.pose), 1.0, 9, level, 1, "hits")]

        @classmethod
        def of(cls, matched, options, limits):
            return cls(matched)

        def solve(self, found, options, limits):
            rows = self.matched.rows
            source, target = self.matched.source[rows[:, 0]], self.matched.target[rows[:, 1]]
            noise_bound = self.matched.recipe.noise_bound
            fake.calls.append((source, target, noise_bound, options))
            inliers = np.linalg.norm(apply(fake.pose, source) - target, axis=1) <= noise_bound
            return Result(fake.pose, inliers, 0.0, 0.0, fake.status, "", Certificate(), -9.0, {"search": 0.0})

    monkeypatch.setattr(module, "Poses", FakePoses)
    return fake
