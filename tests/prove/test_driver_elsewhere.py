"""The driver when phases take turns by their bounds, and when somebody asks what can be saved elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.prove.driver import maximise
from tear3d.prove.stage import BOUND, CELL, PHASE, Outcome
from tests.prove.mock import BEST, BEST_X, START, Landscape, bumps

ZONE = 0.06
RIVAL = max(bumps(x) for x in np.linspace(0.0, 1.0, 10**5) if abs(x - BEST_X) > ZONE)
FAR, NEAR = 0, 1


@dataclass
class Twofold(Landscape):
    """Cells within ZONE of the optimum are near; elsewhere, a share of the saving is all that is of interest."""

    best_first: bool = True
    elsewhere: frozenset[int] = frozenset({FAR})
    share: float = 0.5
    moved: bool = False

    def of_interest(self, phase, task):
        far = max(self.share * task.saving, 1.0005 * task.far)
        return task.threshold if phase == NEAR else min(task.threshold, far)

    def stayed(self, solution):
        return not self.moved

    def _search(self, nodes, task):
        phase = int(nodes[0, PHASE])
        assert np.all(nodes[:, PHASE] == phase)
        self.order += [(phase, float(node[BOUND])) for node in nodes]
        left, cells = [], 0
        out = {"closed": 0.0, "far_closed": 0.0, "saving": -math.inf, "far_saving": -math.inf}
        best = far = None
        for node in nodes:
            if cells >= task.cells or task.stop():
                left.append(node)
                continue
            cells += 1
            a, b = node[CELL:]
            for lo, hi in ((a, 0.5 * (a + b)), (0.5 * (a + b), b)):
                middle, bound = 0.5 * (lo + hi), min(float(node[BOUND]), self.bound(lo, hi))
                near = max(abs(lo - BEST_X), abs(hi - BEST_X)) <= ZONE
                value = bumps(middle)
                if value > out["saving"]:
                    out["saving"], best = value, middle
                if abs(middle - BEST_X) > ZONE and value > out["far_saving"]:
                    out["far_saving"], far = value, middle
                if bound <= self.of_interest(NEAR if near else FAR, task):
                    out["closed"] = max(out["closed"], bound)
                    out["far_closed"] = out["far_closed"] if near else max(out["far_closed"], bound)
                else:
                    left.append(np.array([bound, NEAR if near else FAR, lo, hi]))
        rows = np.array(left).reshape(-1, nodes.shape[1])
        return Outcome(rows, cells=cells, solution=best, far_solution=far, work=cells, **out)


def solve(stage, start=START, threads=1, **limits):
    return maximise(stage, start, rel_gap=1e-3, limits=Limits(**limits), threads=threads)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("node_limit", [0, 3, 20, 100, None])
def test_no_solution_elsewhere_saves_more(share, node_limit):
    found = solve(Twofold(share=share), node_limit=node_limit)
    proof = found.certificate
    assert RIVAL <= proof.elsewhere <= max(proof.saving_bound, 50.0)
    assert proof.saving_bound >= BEST
    if node_limit is None:
        assert proof.closed
        # What was of no interest is not known better than that.
        assert proof.elsewhere <= max(1.001 * RIVAL, share * proof.saving, 0.0) * (1 + 1e-9)
        assert found.far_solution is None or bumps(found.far_solution) <= RIVAL * (1 + 1e-6)


def test_a_solution_that_left_the_start_has_nothing_but_the_bound_elsewhere():
    assert solve(Twofold()).certificate.elsewhere < 0.97 * BEST
    proof = solve(Twofold(moved=True)).certificate
    assert proof.elsewhere == proof.saving_bound


def test_nobody_asked():
    assert maximise(Landscape(), START, rel_gap=0.1, limits=Limits()).certificate.elsewhere is None


def test_the_search_goes_on_elsewhere_when_the_gap_is_closed():
    """From the optimum, what is near it is soon closed; the rest takes as long as the share asks for."""
    cells = [solve(Twofold(share=share), (BEST, BEST_X)).certificate.cells for share in (1.0, 0.8, 0.3)]
    assert cells == sorted(cells)
    assert cells[0] < cells[-1]


def test_the_phase_farthest_above_what_is_of_interest_comes_first():
    stage = Twofold(nodes=1, pieces=1, share=0.5)
    maximise(stage, (BEST, BEST_X), rel_gap=1e-3, limits=Limits())
    phases = [phase for phase, _ in stage.order]
    assert {FAR, NEAR} == set(phases)
    assert phases != sorted(phases)
    wanted = {NEAR: BEST * 1.001, FAR: 0.5 * BEST}
    # Bounds of cells never grow, so the excess of what is chosen falls, up to what the far incumbent takes off.
    excess = [bound / wanted[phase] for phase, bound in stage.order if phase == NEAR]
    assert excess == sorted(excess, reverse=True)


@pytest.mark.parametrize("saving", [0.0, -math.inf])
def test_a_search_from_nothing(saving):
    found = solve(Twofold(), (saving, None))
    assert found.certificate.closed
    assert found.solution == pytest.approx(BEST_X, abs=1e-3)


def test_the_same_for_any_number_of_threads():
    one, *others = (solve(Twofold(nodes=16, pieces=8), threads=threads) for threads in (1, 2, 4))
    for other in others:
        assert (other.solution, other.far_solution) == (one.solution, one.far_solution)
        assert other.certificate.to_dict() == one.certificate.to_dict()
        assert other.certificate.elsewhere == one.certificate.elsewhere
