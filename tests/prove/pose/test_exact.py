"""The shipped margins against exact rational arithmetic on the pairs as given: nothing is added for rounding."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.pose import Pose
from tear3d.prove.pose.boxes import search_boxes, shrink
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW
from tear3d.prove.pose.stage import WholePose
from tear3d.prove.stage import BOUND, Task
from tests.naive_pose import fractions
from tests.prove.pose.cases import KINDS, affine_of, exact_problem, node_around, poses_in, setting_of, tally_of
from tests.prove.pose.test_boxes import beginning, scratch_of

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
losses = st.sampled_from(sorted(LOSSES))


def inside(node, pose):
    return bool(np.all(node[LOW : LOW + 6] <= pose) and np.all(pose <= node[HIGH : HIGH + 6]))


def savings(rng, exact, node, known, count):
    """(pose, what it saves exactly) for some poses of a node."""
    for pose in poses_in(rng, node, count, known):
        yield pose, exact.saving(int(node[FACE]), pose[:3], pose[3:])


@given(seeds, kinds, losses, st.sampled_from([0.0, 0.5, 0.999, 1.0]))
@settings(max_examples=200, deadline=None)
def test_votes(seed, kind, loss, share):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact)
    threshold = share * float(exact.saving(int(node[FACE]), known[:3], known[3:]))
    tally = tally_of(exact.packed, node, threshold)
    low, high = np.array(tally.low), np.array(tally.high)
    for pose, saving in savings(rng, exact, node, known, 5):
        kept = bool(np.all(low <= pose[3:]) and np.all(pose[3:] <= high))
        assert saving <= Fraction(tally.cut) or (kept and saving <= Fraction(tally.bound))


@given(seeds, kinds, losses)
@settings(max_examples=200, deadline=None)
def test_slopes(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact)
    middle = 0.5 * (node[LOW : LOW + 6] + node[HIGH : HIGH + 6])
    half = 0.5 * (node[HIGH : HIGH + 6] - node[LOW : LOW + 6])
    affine, reach, _ = affine_of(exact.packed, node, rng.choice([-1.0, 0.0, 1.0], 6) * half)
    bound = affine.value + float(np.abs(affine.slope) @ reach)
    for pose, saving in savings(rng, exact, node, known, 5):
        offset = [a - b for a, b in zip(fractions(pose), fractions(middle), strict=True)]
        slope = sum(a * b for a, b in zip(fractions(affine.slope), offset, strict=True))
        assert saving <= Fraction(affine.value) + slope
        assert saving <= Fraction(affine.lone)
        assert saving <= Fraction(bound)


@given(seeds, kinds, losses)
@settings(max_examples=100, deadline=None)
def test_what_shrinking_cuts_off(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact)
    half = 0.5 * (node[HIGH : HIGH + 6] - node[LOW : LOW + 6])
    affine, reach, _ = affine_of(exact.packed, node, rng.choice([-1.0, 0.0, 1.0], 6) * half)
    bound = affine.value + float(np.abs(affine.slope) @ reach)
    poses = list(savings(rng, exact, node, known, 5))
    threshold = rng.choice([0.5, 0.999, 1.0]) * float(max(saving for _, saving in poses))
    before = node.copy()
    shrink(node, reach, affine.slope, bound, threshold)
    assert inside(before, node[LOW : LOW + 6])
    assert inside(before, node[HIGH : HIGH + 6])
    for pose, saving in poses:
        assert saving <= Fraction(threshold) or inside(node, pose)


@given(seeds, kinds, losses, st.integers(1, 60), st.floats(0.0, 1.2))
@settings(max_examples=100, deadline=None)
def test_what_a_search_of_boxes_closes(seed, kind, loss, cells, share):
    """Wherever it is stopped: a pose is in an open box whose bound holds, or saves no more than what was closed."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p = exact.packed
    node, known = node_around(rng, exact, BOXES)
    poses = list(savings(rng, exact, node, known, 6))
    scratch = scratch_of(p, node)
    start = share * float(max(saving for _, saving in poses))
    state = search_boxes(setting_of(p, 0.01), beginning(start), scratch, 2**40, cells)
    assert state.cells <= cells
    for pose, saving in poses:
        holding = [float(box[BOUND]) for box in scratch.nodes[: state.top] if inside(box, pose)]
        assert saving <= Fraction(max([state.closed, *holding]))


@given(seeds, kinds, losses, st.integers(0, 3), st.floats(0.0, 1.2))
@settings(max_examples=60, deadline=None)
def test_what_the_stage_closes(seed, kind, loss, cells, share):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    stage = WholePose(exact.pairs, LOSSES[loss], Pose.identity())
    stage.packed = exact.packed
    node, known = node_around(rng, exact)
    poses = list(savings(rng, exact, node, known, 4))
    start = share * float(max(saving for _, saving in poses))
    outcome = stage.search(node[None], Task(start, 0.01, cells, Limits()), stage.workspace())
    assert outcome.cells <= cells
    for pose, saving in poses:
        holding = [float(box[BOUND]) for box in outcome.open if inside(box, pose)]
        assert saving <= Fraction(max([outcome.closed, *holding]))


@given(seeds, kinds, losses)
@settings(max_examples=60, deadline=None)
def test_nothing_is_saved_outside_the_roots(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p = exact.packed
    g, face = rng.uniform(-1.0, 1.0, 3), int(rng.integers(4))
    t = 0.5 * (p.low + p.high)
    k = rng.integers(3)
    t[k] = np.nextafter(p.high[k], np.inf) if rng.uniform() < 0.5 else np.nextafter(p.low[k], -np.inf)
    assert exact.saving(face, g, t) == 0
    assert exact.saving(face, g, 0.5 * (p.low + p.high)) <= Fraction(p.ceiling)


def test_without_the_margin_for_residuals_slopes_would_fail():
    """These tests would see it: a bare bound lies below exact savings when the target is much larger than ξ."""
    rng = np.random.default_rng(0)
    short = 0
    for _ in range(40):
        exact = exact_problem(rng, "lopsided")
        node, known = node_around(rng, exact)
        node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
        saving = exact.saving(int(node[FACE]), known[:3], known[3:])
        assert saving <= Fraction(affine_of(exact.packed, node)[0].value)
        short += saving > Fraction(affine_of(replace(exact.packed, eps=0.0), node)[0].value)
    assert short > 10


def test_without_the_margin_for_places_votes_would_fail():
    """The same for votes, whose places are in float32."""
    rng = np.random.default_rng(1)
    short = 0
    for _ in range(60):
        exact = exact_problem(rng, "lopsided")
        node, known = node_around(rng, exact)
        node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
        saving = exact.saving(int(node[FACE]), known[:3], known[3:])
        bare = replace(exact.packed, ballot=exact.packed.ballot._replace(margin=0.0))
        assert saving <= Fraction(tally_of(exact.packed, node, -1.0).bound)
        short += saving > Fraction(tally_of(bare, node, -1.0).bound)
    assert short > 0


@given(seeds, st.sampled_from(["huge", "tiny", "plain"]))
@settings(max_examples=60, deadline=None)
def test_sums_of_squares_are_rounded_relative_to_squares(seed, kind):
    """At single poses, where nothing but the rounding of sums is between the bound and the saving of exact fits."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, "tls")
    node, known = node_around(rng, exact)
    node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
    affine = affine_of(exact.packed, node)[0]
    saving = exact.saving(int(node[FACE]), known[:3], known[3:])
    assert saving <= Fraction(affine.value)
    assert affine.value <= float(saving) + 1e-9 * exact.packed.ceiling
