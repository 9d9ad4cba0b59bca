"""Points about a home from voters, which are in float32: the pairs up to a margin, and bounds of exact savings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.prove.bounds.slopes import BOUND_OF, LANES, LENGTH, PLACE, RESIDUAL, WEIGHT
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.pose.boxes import make_scratch
from tear3d.prove.pose.nodes import FACE, HIGH, LOW
from tests.prove.pose.cases import KINDS, convex_of, exact_problem, gather_voters_of, node_around
from tests.prove.pose.grouping import grouped, some_choices
from tests.prove.pose.test_exact import home_around, savings

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
losses = st.sampled_from(sorted(LOSSES))
ROWS = [*range(PLACE, PLACE + 3), *range(RESIDUAL, RESIDUAL + 3), LENGTH, BOUND_OF, WEIGHT]


def copies_of(rng, voters):
    """Some voters, at any place of an arena; and where they are."""
    n = voters.rows.shape[1]
    chosen = np.flatnonzero(rng.uniform(size=n) < 0.7)
    xi, ballots = (a if a.size == 1 else np.append(a[:3], a[chosen]) for a in (voters.xi, voters.ballots))
    first = min(3, n)
    arena = Voters(
        np.concatenate([voters.rows[:, :first], voters.rows[:, chosen]], axis=1),
        xi,
        ballots,
        np.append(np.arange(first), chosen).astype(np.int32),
    )
    return arena, (first, first + len(chosen))


@given(seeds, kinds, losses, st.booleans())
@settings(max_examples=150, deadline=None)
def test_voters_at_home_are_the_pairs_but_for_single_precision(seed, kind, loss, some):
    """Seen in float64, so that nothing but what voters have lost is between the two."""
    rng = np.random.default_rng(seed)
    with grouped(some_choices(rng)):
        p = (exact := exact_problem(rng, kind, loss)).packed
    node, _ = node_around(rng, exact)
    voters, span = copies_of(rng, p.voters) if some else (p.voters, (0, p.size))
    index = p.numbers(voters, span)
    n = len(index)
    ours, theirs = make_scratch(p.size, np.float64), make_scratch(p.size, np.float64)
    ours.points[:] = theirs.points[:] = np.nan
    assert gather_voters_of(p, voters, span, node, ours.home, ours.points) == -(-n // LANES) * LANES
    assert p.gather(index, node, theirs.home, theirs.points) == -(-n // LANES) * LANES
    assert np.all(ours.points[:, n : -(-n // LANES) * LANES] == 0.0)
    a, b = ours.points[:, :n], theirs.points[:, :n]
    x, residual = (a[row : row + 3] - b[row : row + 3] for row in (PLACE, RESIDUAL))
    off = np.linalg.norm(x, axis=0) + np.linalg.norm(residual + x, axis=0)  # of x and of y, hence of any y − R x − t
    assert np.all(off <= p.single_eps)
    assert np.all(np.abs(a[LENGTH] - b[LENGTH]) <= np.linalg.norm(x, axis=0) + p.eps)
    for row in (BOUND_OF, WEIGHT):
        assert np.all((b[row] <= a[row]) & (a[row] <= b[row] * (1.0 + 2.0**-20)))


@given(seeds, kinds, losses)
@settings(max_examples=100, deadline=None)
def test_points_in_single_precision_are_rounded_once(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p, (node, _) = exact.packed, node_around(rng, exact)
    single, double = make_scratch(p.size, np.float32), make_scratch(p.size, np.float64)
    for scratch in (single, double):
        gather_voters_of(p, p.voters, (0, p.size), node, scratch.home, scratch.points)
    for row in ROWS:
        assert np.array_equal(single.points[row, : p.size], double.points[row, : p.size].astype(np.float32))
    assert np.all(single.points[BOUND_OF, : p.size] >= p.pairs.xi)
    assert np.all(single.points[WEIGHT, : p.size] >= p.pairs.w)


@given(seeds, kinds, losses)
@settings(max_examples=300, deadline=None)
def test_corners_from_voters_bound_exact_savings(seed, kind, loss):
    rng = np.random.default_rng(seed)
    with grouped(some_choices(rng)):
        exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact)
    convex = convex_of(exact.packed, node, np.float32, home_around(rng, node), voters=True)
    for _, saving in savings(rng, exact, node, known, 5):
        assert saving <= Fraction(convex.sums.lone)
        assert saving <= Fraction(convex.bound)


def test_without_the_margin_for_voters_corners_would_fail():
    """Single poses at home, far from which partners are all over the place."""
    rng, short = np.random.default_rng(0), 0
    for _ in range(60):
        exact = exact_problem(rng, "lopsided")
        node, known = node_around(rng, exact)
        node[LOW : LOW + 6] = node[HIGH : HIGH + 6] = known
        p, saving = exact.packed, exact.saving(int(node[FACE]), known[:3], known[3:])
        assert saving <= Fraction(convex_of(p, node, np.float32, voters=True).bound)
        bare = replace(p, single_eps=p.eps)
        short += saving > Fraction(convex_of(bare, node, np.float32, voters=True).bound)
    assert short > 10
