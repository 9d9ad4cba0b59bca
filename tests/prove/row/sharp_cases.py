"""Row problems with a known answer, and the sharp search of them."""

import numpy as np

from tear3d.problem.limits import Limits
from tear3d.prove.driver import maximise
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.sharp import SharpRow
from tests import naive


def row_problem(n, seed, *, outliers=0.4, general=True):
    """(x, y, ξ, w, r, t): pairs most of which agree with one row and shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x -= x.mean(axis=0)
    r = rng.normal(size=3)
    r /= np.linalg.norm(r)
    t = rng.normal()
    y = x @ r + t + 0.02 * rng.normal(size=n)
    wrong = rng.random(n) < outliers
    y[wrong] = rng.normal(0.0, 1.5, np.count_nonzero(wrong))
    if general:
        return x, y, rng.uniform(0.05, 0.2, n), rng.uniform(0.2, 2.0, n), r, t
    return x, y, np.array([0.1]), np.ones(1), r, t


def stage(x, y, xi, w, *, incumbent, rel_gap=1e-2, across=None, double=True):
    """The stage of a row problem: y is the first target coordinate."""
    target = np.column_stack([y, np.zeros_like(y), np.zeros_like(y)])
    problem = RowProblem(x, target, xi, w, np.zeros(3), np.array([1.0, 0.0, 0.0]), 0.0, across)
    return SharpRow(problem, incumbent, rel_gap=rel_gap, double=double)


def sharp(x, y, xi, w, *, incumbent, limits=None, threads=1, **options):
    """The best (r, t) and its certificate; further options are those of `stage`."""
    row = stage(x, y, xi, w, incumbent=incumbent, **options)
    limits = limits if limits is not None else Limits()
    rel_gap = options.get("rel_gap", 1e-2)
    return maximise(row, row.start(*incumbent), rel_gap=rel_gap, limits=limits, threads=threads)


def each(values, n):
    return np.ascontiguousarray(np.broadcast_to(values, n))


def saving(problem, solution):
    """What (r, t) saves, in float64."""
    x, y, xi, w, *_ = problem
    return naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), solution[:3], solution[3], "tear")
