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
from tear3d.prove.bounds.slopes import sum_slopes
from tear3d.prove.pose.boxes import search_boxes, shrink
from tear3d.prove.pose.home import seen_from_home
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW, NEAR
from tear3d.prove.pose.stage import WholePose
from tear3d.prove.stage import BOUND, Task
from tests.prove.pose.cases import KINDS, convex_of, exact_problem, node_around, poses_in, setting_of, tally_of
from tests.prove.pose.test_boxes import beginning, scratch_of

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
losses = st.sampled_from(sorted(LOSSES))
dtypes = st.sampled_from([np.float32, np.float64])


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
    tally, boxes = tally_of(exact.packed, node, threshold, int(rng.integers(3)))
    if tally.parts == 1:
        boxes[0] = *tally.low, *tally.high
    for pose, saving in savings(rng, exact, node, known, 5):
        kept = any(np.all(box[:3] <= pose[3:]) and np.all(pose[3:] <= box[3:]) for box in boxes[: tally.parts])
        assert saving <= Fraction(tally.cut) or (kept and saving <= Fraction(tally.bound))


def home_around(rng, node):
    """A node that holds another, larger by any factor, within the same root."""
    home, third = node.copy(), np.array([-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0])
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    more = (high - low) * 10.0 ** rng.uniform(-2, 4)
    home[LOW : LOW + 6], home[HIGH : HIGH + 6] = low - more * rng.uniform(size=6), high + more * rng.uniform(size=6)
    cell = np.clip(np.searchsorted(third, 0.5 * (low + high)[:3]) - 1, 0, 2)
    home[LOW : LOW + 3] = np.maximum(home[LOW : LOW + 3], np.minimum(third[cell], low[:3]))
    home[HIGH : HIGH + 3] = np.minimum(home[HIGH : HIGH + 3], np.maximum(third[cell + 1], high[:3]))
    return home


@given(seeds, kinds, losses, dtypes)
@settings(max_examples=300, deadline=None)
def test_corners(seed, kind, loss, dtype):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact, rng.choice([BOXES, NEAR]))
    convex = convex_of(exact.packed, node, dtype, home_around(rng, node))
    for _, saving in savings(rng, exact, node, known, 5):
        assert saving <= Fraction(convex.sums.lone)
        assert saving <= Fraction(convex.bound)


@given(seeds, kinds, losses, dtypes)
@settings(max_examples=150, deadline=None)
def test_what_shrinking_cuts_off(seed, kind, loss, dtype):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact, rng.choice([BOXES, NEAR]))
    convex = convex_of(exact.packed, node, dtype, home_around(rng, node))
    poses = list(savings(rng, exact, node, known, 5))
    threshold = rng.choice([0.5, 0.999, 1.0]) * float(max(saving for _, saving in poses))
    before = node.copy()
    shrink(node, convex.middle, convex.half, convex.work, threshold)
    assert inside(before, node[LOW : LOW + 6])
    assert inside(before, node[HIGH : HIGH + 6])
    for pose, saving in poses:
        assert saving <= Fraction(threshold) or inside(node, pose)


@given(seeds, kinds, losses, st.integers(1, 60), st.floats(0.0, 1.2), dtypes)
@settings(max_examples=100, deadline=None)
def test_what_a_search_of_boxes_closes(seed, kind, loss, cells, share, dtype):
    """Wherever it is stopped: a pose is in an open box whose bound holds, or saves no more than what was closed."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p = exact.packed
    node, known = node_around(rng, exact, BOXES)
    poses = list(savings(rng, exact, node, known, 6))
    scratch = scratch_of(p, node, dtype)
    start = share * float(max(saving for _, saving in poses))
    state = search_boxes(setting_of(p, 0.01, dtype=dtype), p.allowed, beginning(start), scratch, 2**40, cells)
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


def test_without_the_margin_for_residuals_corners_would_fail():
    """These tests would see it: a bare bound lies below exact savings when the target is much larger than ξ."""
    rng = np.random.default_rng(0)
    short = 0
    for _ in range(40):
        exact = exact_problem(rng, "lopsided")
        node, known = node_around(rng, exact)
        node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
        saving = exact.saving(int(node[FACE]), known[:3], known[3:])
        assert saving <= Fraction(convex_of(exact.packed, node).bound)
        short += saving > Fraction(convex_of(replace(exact.packed, eps=0.0), node).bound)
    assert short > 10


def test_without_the_margin_for_single_precision_corners_would_fail(monkeypatch):
    """The same for what is rounded to float32 at home: pairs near the edge of their bound, seen from a large home."""
    rng = np.random.default_rng(2)
    cases = []
    for _ in range(60):
        exact = exact_problem(rng, "plain")
        node, known = node_around(rng, exact)
        home = node.copy()
        around = rng.uniform(size=(2, 6)) * [0.3, 0.3, 0.3, 5.0, 5.0, 5.0]
        home[LOW : LOW + 6], home[HIGH : HIGH + 6] = known - around[0], known + around[1]
        node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
        saving = exact.saving(int(node[FACE]), known[:3], known[3:])
        cases.append((exact.packed, node, home, saving))
        assert saving <= Fraction(convex_of(exact.packed, node, np.float32, home).bound)
    plain = seen_from_home.py_func

    def bare(node, frame, home, farthest, eps, unit):
        return plain(node, frame, home, farthest, eps, 0.0)

    monkeypatch.setattr("tests.prove.pose.cases.seen_from_home", bare)
    monkeypatch.setattr("tests.prove.pose.cases.sum_slopes", unrounded)
    assert sum(saving > Fraction(convex_of(p, node, np.float32, home).bound) for p, node, home, saving in cases) > 5


def unrounded(points, span, box, loss, unit, work):
    """`sum_slopes` without the margin for sums."""
    return sum_slopes(points, span, box, loss, 0.0, work)


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
        assert saving <= Fraction(tally_of(exact.packed, node, -1.0)[0].bound)
        short += saving > Fraction(tally_of(bare, node, -1.0)[0].bound)
    assert short > 0


@given(seeds, st.sampled_from(["huge", "tiny", "plain"]))
@settings(max_examples=60, deadline=None)
def test_sums_of_squares_are_rounded_relative_to_squares(seed, kind):
    """At single poses, where nothing but the rounding of sums is between the bound and the saving of exact fits."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, "tls")
    node, known = node_around(rng, exact)
    node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
    bound = convex_of(exact.packed, node).bound
    saving = exact.saving(int(node[FACE]), known[:3], known[3:])
    assert saving <= Fraction(bound)
    assert bound <= float(saving) + 1e-9 * exact.packed.ceiling
