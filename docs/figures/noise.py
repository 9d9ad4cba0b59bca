"""A noise bound that was estimated, and what others would have made of the pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tear3d
from docs.figures.svg import BLUE, GREEN, INK, ORANGE, Axis, Plot, document, save


def draw(folder: Path) -> None:
    save(folder / "noise-estimate.svg", _estimate())


def _estimate() -> str:
    problem = tear3d.synthetic.make_problem(5000, 0.95, cloud="teapot", seed=1)
    noise = tear3d.register(problem.source, problem.target, certify=False).noise
    assert noise is not None
    bounds = np.array([at.noise_bound for at in noise.curve])
    x = Axis(bounds[0], bounds[-1], (0.01, 0.03, 0.1, 0.3), "noise bound", log=True)
    inliers = [at.num_inliers for at in noise.curve]
    significance = [max(0.0, -at.significance) for at in noise.curve]
    left = Plot(x, Axis(0.0, 300.0, (0, 100, 200, 300), "inliers"), box=(56, 36, 320, 220))
    right = Plot(x, Axis(0.0, 600.0, (0, 200, 400, 600), "−significance"), box=(400, 36, 664, 220))
    for plot, values, colour in ((left, inliers, ORANGE), (right, significance, BLUE)):
        low, high = plot.y.low, plot.y.high
        plot.line([noise.noise_bound] * 2, [low, high], INK, dash="6 4", width=1.5)
        for bound in (noise.low, noise.high):
            plot.line([bound] * 2, [low, high], GREEN, dash="2 4", width=1.5)
        plot.line(bounds, values, colour)
        plot.dots(bounds, values, colour)
    panels = [left.draw(), right.draw()]
    return document(
        684, 272, panels, "Inliers and significance against the noise bound, with the one that was estimated"
    )
