"""The shipped bounds against exact rational arithmetic on the pairs as given: no tolerance anywhere."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tear3d.prove.bounds.data import Axis
from tear3d.prove.bounds.first_order import narrow_bound, wide_bound
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.row.points import pack_points
from tear3d.prove.row.problem import RowProblem
from tests import naive
from tests.prove.bounds.cases import ONE, CellCase, bounds_at, each, work_space

KINDS = ("plain", "ties", "duplicates", "far off", "tiny", "huge", "spread", "crowd", "tight")
INSIDE = np.array([1e-4, 1.0 - 1e-4])


def exactly(values):
    return [Fraction(float(v)) for v in np.ravel(values)]


def on_sphere(r):
    """A rational unit vector next to r: stereographic projection from the pole that is farthest."""
    k = int(np.argmax(np.abs(r)))
    side = 1 if r[k] > 0 else -1
    p, q = (Fraction(float(r[(k + m) % 3] / (1.0 + abs(r[k])))) for m in (1, 2))
    norm = 1 + p * p + q * q
    out = [Fraction(0)] * 3
    out[k], out[(k + 1) % 3], out[(k + 2) % 3] = side * (2 - norm) / norm, 2 * p / norm, 2 * q / norm
    return out


CIRCLES = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (1.0, -1.0, 0.0))


def on_circle(across, r):
    """A rational unit vector next to r and orthogonal to `across`: chords through a rational point of the circle."""
    if across == (1.0, -1.0, 0.0):  # p(1, 1, 0) + s(0, 0, 1) with 2p² + s² = 1, through (2/3, 1/3) or its opposite
        first, (p0, s0), form = (r[0], r[2]), (Fraction(2, 3), Fraction(1, 3)), (2, 1)
    else:
        axes = [k for k in range(3) if across[k] == 0.0]
        first, (p0, s0), form = (r[axes[0]], r[axes[1]]), (Fraction(1), Fraction(0)), (1, 1)
    if form[0] * first[0] * float(p0) + form[1] * first[1] * float(s0) > 0.0:
        p0, s0 = -p0, -s0
    d = [Fraction(float(first[0])) - p0, Fraction(float(first[1])) - s0]
    along = -2 * (form[0] * p0 * d[0] + form[1] * s0 * d[1]) / (form[0] * d[0] ** 2 + form[1] * d[1] ** 2)
    p, s = p0 + along * d[0], s0 + along * d[1]
    out = [Fraction(0)] * 3
    if across == (1.0, -1.0, 0.0):
        return [p, p, s]
    out[axes[0]], out[axes[1]] = p, s
    return out


def exact_saving(problem, r, t):
    """Σ w·max(0, ξ − |y − r·x − t|) for rational r and t, of the pairs as they were given."""
    direction, centre, offset = exactly(problem.direction), exactly(problem.centre), Fraction(problem.offset)
    n = len(problem.source)
    total = Fraction(0)
    for source, target, xi, w in zip(
        problem.source, problem.target, exactly(each(problem.xi, n)), exactly(each(problem.w, n)), strict=True
    ):
        y = sum(a * b for a, b in zip(direction, exactly(target), strict=True)) - offset
        x = [a - b for a, b in zip(exactly(source), centre, strict=True)]
        total += w * max(Fraction(0), xi - abs(y - sum(a * b for a, b in zip(r, x, strict=True)) - t))
    return total


def random_problem(rng, kind, general, r):
    """Pairs about a row r (a float vector); all residuals of one sign in half of the cases."""
    n = 60 if kind == "crowd" else int(rng.integers(2, 13))
    scale = {"tiny": 1e-12, "huge": 1e12}.get(kind, 1.0)
    x = rng.normal(size=(n, 3))
    if kind in ("duplicates", "crowd"):
        x = x[rng.integers(0, 2, n)]
    threshold = float(rng.choice([0.02, 0.1, 0.4]))
    spread = rng.uniform(0.0, 1.2, n) if rng.random() < 0.5 else rng.normal(size=n)
    if kind == "ties":
        x, spread = np.round(4.0 * x) / 4.0, rng.integers(-2, 3, n) / 2.0
    if kind == "tight":  # nothing near a kink, and no slope in r: the bound without its margin is reached
        x, spread = np.concatenate([x, -x]), rng.uniform(0.3, 0.6, 2 * n) * rng.choice([-1.0, 1.0])
        n = 2 * n
    y = x @ r + rng.normal() + threshold * spread
    xi, w = np.array([threshold]), ONE
    if general:
        xi, w = threshold * rng.uniform(0.5, 2.0, n), rng.uniform(0.1, 3.0, n)
        if kind == "spread":
            xi = threshold * 10.0 ** rng.uniform(-2.0, 2.0, n)
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    others = rng.normal(size=(2, n))
    target = y[:, None] * direction + others[0][:, None] * [1, 2, 0] + others[1][:, None] * [0, 2, 1]
    away = np.array([1e6, -2e6, 3e6]) if kind == "far off" else np.zeros(3)
    source, target = scale * (x + away), scale * (target + away)
    return RowProblem(
        source, target, scale * xi, w, source.mean(axis=0), direction, float(target.mean(axis=0) @ direction)
    )


def kernels(row, levels):
    """Ways to bound a cell: (name, function of a cell and nodes)."""

    def first(kernel):
        def bound(case, t0, beta, nodes):
            values = np.zeros(nodes)
            rounding = kernel(row.all, case.cell, Axis(t0, beta, nodes), work_space(row.all.rows.dtype), values)
            assert rounding >= 0.0
            return values + rounding

        return bound

    ways = [("narrow", first(narrow_bound))]
    if not row.all.general:
        ways.append(("wide", first(wide_bound)))
        ways += [
            (f"windows {k}", lambda case, t0, beta, nodes, k=k: bounds_at(row, case, t0, beta, nodes, k))
            for k in levels
        ]
    return ways


def check(rng, kind, double, general, level, circle):
    across = CIRCLES[int(rng.integers(3))] if circle else None
    basis = None if across is None else np.array(orthogonal_basis(np.array(across)))
    case = CellCase(rng, level, circle, basis)
    ab = np.array([[rng.choice([*INSIDE, rng.random()]), rng.choice([*INSIDE, rng.random()])] for _ in range(4)])
    directions = case.directions(ab)
    problem = random_problem(rng, kind, general, directions[0])
    row = pack_points(problem, double=double)
    beta = row.all.xi / int(rng.integers(4, 12))
    nodes = int(rng.integers(1, 12))
    b = problem.y - problem.x @ directions[0]
    low = float(rng.choice(b)) + row.all.xi * rng.normal() - rng.random() * nodes * beta
    t0 = low + 0.5 * beta
    rational = [on_sphere(r) if across is None else on_circle(across, r) for r in directions]
    assert all(sum(v * v for v in r) == 1 for r in rational)
    shifts = [Fraction(low) + Fraction(float(f)) * nodes * Fraction(beta) for f in rng.random(3)]
    shifts += [t for t in exactly(rng.permutation(b)[:4]) if 0 <= t - Fraction(low) <= nodes * Fraction(beta)]
    shifts += [Fraction(t0) + (2 * k + 1) * Fraction(beta) / 2 for k in range(-1, nodes)][:8]
    savings = {(k, t): exact_saving(problem, r, t) for (k, r), t in product(enumerate(rational), shifts)}
    label = f"{kind}, level {level}, circle {circle}, general {general}, double {double}"
    best = max(savings.values())
    assert Fraction(case.sweep(problem)) >= best, label
    for name, bound in kernels(row, (2, 4)):
        values = bound(case, t0, beta, nodes)
        for (_, t), saving in savings.items():
            place = (t - Fraction(t0)) / Fraction(beta)
            node = min(max(round(place), 0), nodes - 1)
            if abs(place - node) <= Fraction(1, 2):
                assert Fraction(float(values[node])) >= saving, f"{name}: {label}"
    return float(best), row, problem, case, t0, beta


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_rational_pose_saves_more_than_the_bounds_say(kind, double):
    rng = np.random.default_rng([KINDS.index(kind), double])
    saved = 0
    for trial in range(40):
        level, circle, general = 1 + trial % 26, trial % 3 == 0, kind == "spread" or trial % 4 == 0
        saved += check(rng, kind, double, general, level, circle)[0] > 0.0
    assert saved > 20


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
def test_the_margins_are_small(double):
    """The bounds lie above their direct sums by a share of Σwξ that rounding of the points explains."""
    rng = np.random.default_rng(3)
    for trial in range(40):
        _, row, problem, case, t0, beta = check(rng, "plain", double, trial % 2 == 0, 3 + trial % 9, trial % 3 == 0)
        n = len(problem.source)
        xi, w = each(problem.xi, n), each(problem.w, n)
        twin = naive.first_order_bound(problem.x, problem.y, xi, w, case.cell, t0, 0.5 * beta + row.all.eps)
        value = kernels(row, ())[0][1](case, t0, beta, 1)[0]
        mass = float(np.sum(w * (xi + np.linalg.norm(problem.x, axis=1))))
        assert value <= twin + (2e-6 if double else 1e-5) * mass
