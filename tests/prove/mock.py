"""A stage whose optimum is known: a landscape over an interval, for tests of the driver."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from tear3d.prove.stage import BOUND, CELL, NOTHING, OPEN, PHASE, Batch, Outcome, Stage


def bumps(x):
    """On [0, 1], with several local maxima; its Lipschitz constant is below 30."""
    return 2.0 + math.sin(23 * x) + 0.5 * math.sin(5 * x)


_NEAR_BEST = max((k / 10**4 for k in range(10**4 + 1)), key=bumps)
BEST_X = float(max(_NEAR_BEST + np.linspace(-1e-4, 1e-4, 20_001), key=bumps))
BEST = bumps(BEST_X)
START = (bumps(0.0), 0.0)


@dataclass
class Landscape(Stage):
    """Nodes are (bound, phase, left, right); the bound is the middle's value plus slope times the half width.

    A piece of work halves each of its nodes, and the halves again, `depth` times in all.
    """

    name: str = "mock"
    total: float = 100.0
    prune: float = 1.0
    slope: float = 30.0
    nodes: int = 6
    pieces: int = 3
    depth: int = 1
    smallest: float = 0.0
    """Narrower cells cannot be split."""
    pause: float = 0.0
    """Seconds a cell takes, or up to three times that, so that pieces finish out of order."""
    phases: int = 1
    """Cells narrower than 2⁻³ are in the last phase, those of the roots in phase 0."""
    to_best: bool = False
    """A new incumbent is improved to the optimum."""
    order: list[tuple[int, float]] = field(default_factory=list)
    """(phase, bound) of the nodes as they were searched, with one thread."""
    offered: list[float] = field(default_factory=list)

    def roots(self):
        return np.array([[50.0, 0.0, k / 4, (k + 1) / 4] for k in range(4)])

    def batch(self, phase, waiting, turn):
        return Batch(self.nodes, self.pieces)

    def workspace(self):
        return []

    def bound(self, left, right):
        return bumps(0.5 * (left + right)) + self.slope * 0.5 * (right - left)

    def search(self, nodes, task, work):
        assert not work, "a work space is shared"
        work.append(1)
        try:
            return self._search(nodes, task)
        finally:
            work.clear()

    def _search(self, nodes, task):
        self.order += [(int(node[PHASE]), float(node[BOUND])) for node in nodes]
        todo = [(node, 0) for node in reversed(nodes)]
        left, trace = [], []
        cells, closed, best, solution = 0, 0.0, -math.inf, None
        while todo:
            node, depth = todo.pop()
            a, b = node[CELL:]
            middle = 0.5 * (a + b)
            if b - a <= self.smallest:
                closed = max(closed, float(node[BOUND]))
                trace.append((a, b, 0.0, b - a, 0.0, OPEN))
                continue
            if depth == self.depth or task.stop() or cells >= task.cells:
                left.append(node)
                continue
            for lo, hi in ((a, middle), (middle, b)):
                if cells >= task.cells:
                    left.append(np.array([node[BOUND], node[PHASE], lo, hi]))
                    continue
                cells += 1
                if self.pause:
                    time.sleep(self.pause * (1 + int(1e6 * lo) % 3))
                value, bound = bumps(0.5 * (lo + hi)), min(float(node[BOUND]), self.bound(lo, hi))
                if value > best:
                    best, solution = value, 0.5 * (lo + hi)
                pruned = bound <= task.threshold
                trace.append((lo, hi, 0.0, hi - lo, 0.0, float(pruned)))
                if pruned:
                    closed = max(closed, bound)
                else:
                    phase = self.phases - 1 if hi - lo < 1 / 8 else 0
                    todo.append((np.array([bound, phase, lo, hi]), depth + 1))
        rows = np.array(left).reshape(-1, nodes.shape[1])
        return Outcome(rows, closed, cells, best, solution, trace=np.array(trace) if trace else NOTHING)

    def improve(self, saving, solution, limits):
        self.offered.append(saving)
        return (BEST, BEST_X) if self.to_best else (saving, solution)

    def describe(self, nodes):
        return np.array([(a, b, 0.0, b - a, 0.0, OPEN) for a, b in nodes[:, CELL:]])
