"""The sharp and the sweep bounds come to the same result."""

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.prove.row.cells import circle, cube
from tests import naive
from tests.prove.row.sharp_cases import row_problem, saving, sharp
from tests.prove.row.test_sweep_rows import solved, stage_of


@pytest.mark.slow
def test_sharp_and_sweep_agree_on_two_hundred_problems():
    for seed in range(200):
        n = 3 + seed % 58
        problem = row_problem(n, seed, outliers=(0.0, 0.3, 0.6)[seed % 3], general=seed % 4 != 0)
        x, y, xi, w, r, t = problem
        rough = r + 0.05 * np.random.default_rng(seed).normal(size=3)
        found = sharp(x, y, xi, w, incumbent=(rough, t), rel_gap=0.03, limits=Limits(time_limit=20.0))
        slow = solved(stage_of(x, y, xi, w, cube()), 0.03, (r, t), time_limit=20.0).certificate
        assert found.certificate.closed, seed
        assert slow.closed, seed
        assert found.certificate.saving == pytest.approx(saving(problem, found.solution), rel=1e-12)
        assert found.certificate.objective + found.certificate.saving == pytest.approx(slow.objective + slow.saving)
        assert found.certificate.saving_bound >= slow.saving, seed
        assert slow.saving_bound >= found.certificate.saving, seed
        assert found.certificate.saving >= slow.saving / 1.03, seed


@pytest.mark.parametrize("n", [3, 5, 8, 40])
def test_second_row_equals_brute_force_and_sweep(n):
    for seed in range(4):
        x, y, xi, w, r, _ = problem = row_problem(n, 10 * n + seed)
        r1 = np.cross(r, [0.3, -0.5, 0.8])
        r1 /= np.linalg.norm(r1)
        u, v = np.linalg.svd(r1[None])[2][1:]
        directions = naive.arc_directions(u, v, 0.0, 2.0 * np.pi, 400)
        best = naive.best_row(x, y, xi, w, "tear", directions, project=lambda q, r1=r1: q - (q @ r1) * r1)
        found = sharp(x, y, xi, w, incumbent=(u, 0.0), across=r1)
        slow = solved(stage_of(x, y, xi, w, circle(r1), across=r1), row=(u, 0.0)).certificate
        assert found.certificate.closed
        assert abs(found.solution[:3] @ r1) < 1e-12
        assert found.certificate.saving_bound >= max(best[0], slow.saving)
        assert slow.saving_bound >= found.certificate.saving
        assert saving(problem, found.solution) >= max(best[0], slow.saving) / 1.01
