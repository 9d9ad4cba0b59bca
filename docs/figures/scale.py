"""Around one right pair: how many pairs agree with each scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tear3d
from docs.figures.svg import GREY, ORANGE, RED, Axis, Plot, document, save
from tear3d.find.ratios import Ratios
from tear3d.problem.pairs import Pairs
from tear3d.problem.scales import ScaleRange

_PAIRS, _SCALE = 512, 2.5


def draw(folder: Path) -> None:
    save(folder / "scale.svg", _votes())


def _votes() -> str:
    problem = tear3d.synthetic.make_problem(_PAIRS, 0.95, scale=_SCALE, seed=0)
    ratios = Ratios(Pairs.of(problem.source, problem.target, problem.noise_bound), _PAIRS, ScaleRange(0.1, 10.0))
    pivot = int(np.flatnonzero(problem.inlier_mask)[0])
    votes = ratios.count_votes(*ratios.intervals(pivot, pivot + 1, ratios.y))[0][0]
    scales = np.exp(ratios.low + ratios.width * (np.arange(ratios.bins) + 0.5))
    top = 10.0 * np.ceil(votes.max() / 10.0)
    plot = Plot(
        Axis(0.1, 10.0, (0.1, 0.2, 0.5, 1, 2, 5, 10), "scale", log=True),
        Axis(0.0, top, tuple(np.arange(0.0, top + 1.0, 10.0)), "pairs that agree with it"),
    )
    plot.line((_SCALE, _SCALE), (0.0, top), RED, dash="2 4", width=1.5)
    plot.line(scales, ratios.usual, GREY, dash="5 4")
    plot.line(scales, votes, ORANGE)
    plot.label(_SCALE * 1.1, 0.94 * top, "the true scale", RED)
    plot.label(0.12, 0.9 * top, "this pair", ORANGE)
    plot.label(0.12, 0.8 * top, "by chance", GREY)
    return document(560, 320, [plot.draw()], "Votes for the scale around one right pair")
