"""Ourselves among the peers, and TEASER++ as its package would be called."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from benchmarks import peers
from benchmarks.peers import teaserpp
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem


@pytest.fixture(params=["tear3d_answer", "tear3d_pose", "tear3d_rows"])
def ours(request) -> peers.Peer:
    return peers.peer(request.param)


def test_notes_say_what_was_proven(ours):
    made = make_problem(500, 0.9, seed=5)
    found = ours.register(made.source, made.target, made.noise_bound)
    assert rotation_error(found.pose, made.transformation) < 1.0
    assert found.inliers[made.inlier_mask].mean() > 0.9
    if ours.key == "tear3d_answer":
        assert found.notes == {"status": "uncertified"}
    else:
        assert found.notes["status"] == "optimal"
        assert found.notes["closed"]
        assert found.notes["gap"] >= 0.0
        assert (found.notes["runner_up"] is not None) == (ours.key == "tear3d_pose")


def test_nothing_is_compiled_or_loaded_once_it_is_prepared(ours, monkeypatch):
    ours.prepare()
    loaded, compile_one = [], Dispatcher.compile
    monkeypatch.setattr(Dispatcher, "compile", lambda self, sig: (loaded.append(self), compile_one(self, sig))[1])
    for n, ratio in ((700, 0.95), (4000, 0.5)):
        made = make_problem(n, ratio, seed=6)
        ours.register(made.source, made.target, made.noise_bound)
    assert [str(kernel) for kernel in loaded] == []


def test_what_is_no_problem_has_no_pose(ours):
    place = np.ones((30, 3))
    found = ours.register(place, place, 0.01)
    assert np.isnan(found.pose).all()
    assert "coincide" in found.notes["status"]


# ---------------------------------------------------------------- TEASER++


def fake(nested: bool, valid: bool = True) -> tuple[ModuleType, list]:
    """A package with TEASER++'s names, as releases before or after 1.1 have them, and what was asked of it."""
    asked: list = []

    class RobustRegistrationSolver:
        Params = SimpleNamespace

        def __init__(self, params):
            asked.append(params)

        def solve(self, source, target):
            asked.append((source, target))

        def getSolution(self):
            quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
            return SimpleNamespace(rotation=quarter, translation=np.array([1.0, 2.0, 3.0]), valid=valid)

    module = ModuleType("teaserpp_python")
    module.RobustRegistrationSolver = RobustRegistrationSolver
    rotation, selection = SimpleNamespace(GNC_TLS="gnc"), SimpleNamespace(PMC_EXACT="exact")
    if nested:
        RobustRegistrationSolver.ROTATION_ESTIMATION_ALGORITHM = rotation
        RobustRegistrationSolver.INLIER_SELECTION_MODE = selection
    else:
        module.RotationEstimationAlgorithm, module.InlierSelectionMode = rotation, selection
    return module, asked


@pytest.mark.parametrize("nested", [True, False])
def test_teaser_is_asked_what_its_examples_ask(nested, monkeypatch):
    module, asked = fake(nested)
    monkeypatch.setitem(sys.modules, "teaserpp_python", module)
    x = np.random.default_rng(0).normal(size=(7, 3))
    pose = teaserpp.register(x, x + 1.0, 0.25)
    params, (source, target) = asked
    assert (params.cbar2, params.noise_bound, params.estimate_scaling) == (1.0, 0.25, False)
    assert (params.rotation_estimation_algorithm, params.inlier_selection_mode) == ("gnc", "exact")
    assert np.array_equal(source, x.T)
    assert np.array_equal(target, x.T + 1.0)
    assert np.allclose(pose @ [1.0, 0.0, 0.0, 1.0], [1.0, 3.0, 3.0, 1.0])


def test_teaser_without_a_solution_is_nowhere(monkeypatch):
    monkeypatch.setitem(sys.modules, "teaserpp_python", fake(True, valid=False)[0])
    assert np.isnan(teaserpp.register(np.eye(3), np.eye(3), 0.1)).all()
    assert np.isnan(teaserpp.register(np.eye(3)[:2], np.eye(3)[:2], 0.1)).all()


def test_teaser_is_missing_until_it_is_built(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert peers.peer("teaserpp").missing() == "teaserpp_python is not installed (build it from its sources)"
