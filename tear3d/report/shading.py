"""How far the source lies from the target under the pose, for the view that shows it in colours."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

from tear3d.features.tree import Tree
from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.report import words

COMPARED = 100_000
"""Points of the target at most, evenly in their order (free choice)."""
BOUNDS = 3.0
"""The colours end at so many noise bounds, or at ..."""
MOST = 0.95
"""... this quantile where there is none."""


class Shading(NamedTuple):
    """Distances of points of the source, as shares of what the last colour stands for."""

    shares: FloatArray
    """From 0 to 1; farther points have 1."""
    end: float
    beyond: float
    """The share of the points that are farther."""

    @classmethod
    def of(cls, moved: FloatArray, target: FloatArray, noise_bound: float | None) -> Shading:
        """Of points that were moved by the pose; `noise_bound` sets the scale where there is one."""
        distances, _ = Tree(target[spread_rows(len(target), COMPARED)]).nearest(moved)
        end = BOUNDS * noise_bound if noise_bound else float(np.quantile(distances, MOST))
        end = end or 1.0
        return cls(np.minimum(distances / end, 1.0), end, float(np.mean(distances > end)))

    def button(self) -> str:
        return '<button data-shade aria-pressed="false">Distances</button>'

    def legend(self) -> str:
        beyond = f"; {words.part(self.beyond)} of the points shown are farther" if self.beyond else ""
        text = f"{words.number(self.end, 3)} from the target under the pose{beyond}"
        return f'<p class="hint hidden" id="shade-legend">0 <i class="shades"></i> {escape(text)}</p>'
