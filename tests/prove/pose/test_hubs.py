"""What is looked at about one pair after the other: no pose that matters, and no pair of one, is lost."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import tear3d
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.pairs import Pairs
from tear3d.prove import whole
from tear3d.prove.pose import hubs
from tear3d.prove.pose.hubs import fits, sift_by_hubs
from tear3d.prove.pose.stage import WholePose
from tear3d.synthetic import make_problem
from tests.prove.pose.hubbing import is_in_a_node, nodes_for, small_hubs
from tests.prove.pose.priors import confined_case
from tests.prove.pose.problems import make_case, usable
from tests.prove.pose.sifting import lost
from tests.prove.pose.test_sift import poses_of, scored, two_motions

TEAR = LOSSES["tear"]


@pytest.mark.parametrize("prior", [False, True])
def test_a_pose_that_matters_keeps_its_pairs_and_is_in_a_node(prior):
    """All kinds of problems, losses, units and offsets."""
    checked, fewer, cut = 0, 0, dict.fromkeys(LOSSES, 0)
    for seed in range(160):
        case, rng = make_case(3000 + seed), np.random.default_rng(seed)
        case = confined_case(case) if prior else case
        pairs = usable(case.pairs)
        poses = [case.pairs.allow(pose) for pose in poses_of(rng, case)] if len(pairs) else []
        known = max((scored(pairs, pose, case.loss) for pose in poses), key=lambda one: one.saving, default=None)
        with small_hubs(rng):
            if known is None or not fits(pairs, case.loss, known):
                continue
            limit = float(rng.choice([0.3, 0.6, 0.9])) * known.saving
            sifted = sift_by_hubs(pairs, case.loss, known, limit, Limits(), 1)
        if sifted is None or not len(sifted.index):
            continue
        packed, nodes = nodes_for(pairs, case.loss, sifted)
        fewer += len(sifted.index) < len(pairs)
        cut[case.loss.name] += len(nodes) < (0.05 if prior else 0.5) * 108 * 8**sifted.cells.level
        for pose in poses:
            if full_saving(pairs, pose, case.loss) > limit * (1.0 + 1e-12):
                assert not len(lost(pairs, pose, case.loss, sifted)), f"seed {seed}: {case.told}"
                assert is_in_a_node(packed, nodes, pose), f"seed {seed}: {case.told}"
                checked += 1
    assert checked > 150
    assert fewer > 15
    assert min(cut.values()) > 3


def test_motions_that_save_the_same_are_both_kept():
    pairs, (one, other) = two_motions(np.random.default_rng(3))
    limit = 0.99 * min(one.saving, other.saving)
    sifted = sift_by_hubs(pairs, TEAR, one, limit, Limits(), 1)
    packed, nodes = nodes_for(pairs, TEAR, sifted)
    assert is_in_a_node(packed, nodes, one.pose)
    assert is_in_a_node(packed, nodes, other.pose)
    assert len(nodes) < 1500


def test_all_goes_when_nobody_can_save_so_much():
    pairs, (known, _) = two_motions(np.random.default_rng(4))
    sifted = sift_by_hubs(pairs, TEAR, known, 6.0 * known.saving, Limits(), 1)
    assert len(sifted.cells.found) == len(sifted.index) == 0
    stage = WholePose(pairs, TEAR, known.pose, sifted)
    assert (stage.floor, len(stage.roots())) == (6.0 * known.saving, 0)


def test_any_number_of_threads_leaves_the_same():
    pairs, (known, _) = two_motions(np.random.default_rng(5))
    found = [sift_by_hubs(pairs, TEAR, known, known.saving, Limits(), threads) for threads in (1, 2, 4)]
    for other in found[1:]:
        assert np.array_equal(found[0].index, other.index)
        assert np.array_equal(found[0].cells.found, other.cells.found)


def test_nothing_is_left_out_when_the_time_is_over():
    pairs, (known, _) = two_motions(np.random.default_rng(6))
    assert sift_by_hubs(pairs, TEAR, known, known.saving, Limits(time_limit=0.0), 1) is None


@pytest.mark.parametrize("choice", ["MOST_VISITS", "MOST_CELLS", "ROOM"])
def test_nothing_is_left_out_when_it_does_not_pay(choice):
    pairs, (known, _) = two_motions(np.random.default_rng(7))
    with mock.patch.object(hubs, choice, 1):
        assert sift_by_hubs(pairs, TEAR, known, 0.5 * known.saving, Limits(), 1) is None


def test_which_pairs_fit():
    pairs, (known, _) = two_motions(np.random.default_rng(8), counts=(40, 0))
    small = Scored(known.pose, 0.04 * pairs.total(TEAR))
    assert fits(pairs, TEAR, small)
    assert not fits(pairs, TEAR, Scored(known.pose, 0.06 * pairs.total(TEAR)))
    assert not fits(pairs.take(np.arange(300)), TEAR, small)
    assert not fits(replace(pairs, xi=np.linspace(0.05, 0.06, len(pairs))), TEAR, small)


def test_numbers_that_float32_cannot_hold_are_left_alone():
    pairs, (known, _) = two_motions(np.random.default_rng(9))
    for unit in (1e-8, 1e12):
        scaled = replace(pairs, x=pairs.x * unit, y=pairs.y * unit, xi=pairs.xi * unit)
        pose = replace(known.pose, translation=known.pose.translation * unit)
        assert sift_by_hubs(scaled, TEAR, Scored(pose, known.saving * unit), known.saving, Limits(), 1) is None


@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_proof_is_the_same_with_and_without(loss):
    problem = make_problem(1500, 0.93, seed=4)
    given = {"noise_bound": problem.noise_bound, "loss": loss, "rel_gap": 0.02}
    with mock.patch.object(whole, "sift", return_value=None), mock.patch.object(hubs, "RARE", 1.0):
        found = tear3d.register(problem.source, problem.target, **given)
        with mock.patch.object(whole, "sift_by_hubs", return_value=None):
            plain = tear3d.register(problem.source, problem.target, **given)
    assert (found.status, plain.status) == ("optimal", "optimal")
    assert np.array_equal(found.transformation, plain.transformation)
    assert found.certificate.cells < plain.certificate.cells


@pytest.mark.parametrize("known", ["around", "axis"])
def test_so_is_a_proof_about_the_poses_that_are_allowed(known):
    problem = make_problem(1500, 0.93, seed=4)
    given = {"noise_bound": problem.noise_bound, "rel_gap": 0.02}
    if known == "around":
        given |= {"initial": problem.transformation, "within": (60.0, 1.0)}
    else:
        given |= {"rotation_axis": [(0, 0, 1), problem.rotation[:, 2]], "axis_tolerance": 20.0}
    calls = []
    with mock.patch.object(whole, "sift", return_value=None), mock.patch.object(hubs, "RARE", 1.0):
        with mock.patch.object(
            whole, "sift_by_hubs", side_effect=lambda *a: calls.append(sift_by_hubs(*a)) or calls[0]
        ):
            found = tear3d.register(problem.source, problem.target, **given)
        with mock.patch.object(whole, "sift_by_hubs", return_value=None):
            plain = tear3d.register(problem.source, problem.target, **given)
    assert (found.status, plain.status) == ("optimal", "optimal")
    assert found.certificate.scope
    np.testing.assert_allclose(found.transformation, plain.transformation, atol=1e-12)
    assert calls[0] is not None
    assert len(calls[0].cells.found)


def test_a_search_from_another_pose_begins_with_all_rotations():
    pairs, (known, other) = two_motions(np.random.default_rng(10))
    sifted = sift_by_hubs(pairs, TEAR, known, 0.9 * known.saving, Limits(), 1)
    assert WholePose(pairs, TEAR, known.pose, sifted).known_cells is not None
    stage = WholePose(pairs, TEAR, other.pose, sifted)
    assert stage.known_cells is None
    assert len(stage.roots()) == 108


def test_pairs_of_one_kind_only():
    """Weights and noise bounds that are all the same count as one."""
    pairs, (known, _) = two_motions(np.random.default_rng(11), counts=(40, 0))
    same = Pairs.of(pairs.x, pairs.y, np.full(len(pairs), float(pairs.xi[0])), np.full(len(pairs), 2.0))
    assert fits(same, TEAR, Scored(known.pose, 0.04 * same.total(TEAR)))


def test_when_the_time_is_over_the_search_begins_with_all_rotations():
    """Boxes of translations for millions of cells take a while; in pieces they are the same."""
    pairs, (one, _) = two_motions(np.random.default_rng(3))
    with small_hubs(np.random.default_rng(0)):
        sifted = sift_by_hubs(pairs, TEAR, one, 0.99 * one.saving, Limits(), 1)
        _, nodes = nodes_for(pairs, TEAR, sifted)
        with mock.patch.object(hubs, "ROOM", 3):
            np.testing.assert_array_equal(nodes_for(pairs, TEAR, sifted)[1], nodes)
        limits = Limits()
        stage = WholePose(pairs, TEAR, one.pose, sifted, limits=limits)
        assert len(stage.roots()) == len(nodes)
        limits.cancel()
        assert len(stage.roots()) == 108
