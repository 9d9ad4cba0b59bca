"""What it is worth to know something of a pose: seconds of the proof."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.priors import made, priors, proof_seconds
from docs.figures.svg import BLUE, GREEN, GREY, ORANGE, Axis, Plot, document, save

_SIZES, _WRONG = (300, 1_000, 3_000, 10_000, 30_000, 100_000), 0.98
_SHOWN = {"nothing": GREY, "within 20°, 0.3 radii": ORANGE, "axis, 3°": BLUE, "axis": GREEN}


def draw(folder: Path) -> None:
    save(folder / "priors.svg", _priors())


def _priors() -> str:
    seconds: dict[str, list[float]] = {name: [] for name in _SHOWN}
    for n in _SIZES:
        problems = [made(n, _WRONG, seed) for seed in range(3)]
        for name in _SHOWN:
            taken = []
            for given in problems:
                radius = float(np.sqrt(np.mean(np.sum(given.source**2, axis=1))))
                taken.append(proof_seconds(given, dict(priors(given.truth, radius))[name])[1])
            seconds[name].append(float(np.median(taken)))
    ticks = [0.001, 0.01, 0.1, 1.0]
    low, high = 0.8 * min(map(min, seconds.values())), 1.3 * max(map(max, seconds.values()))
    shown = [tick for tick in ticks if low <= tick <= high]
    plot = Plot(
        Axis(_SIZES[0], _SIZES[-1], _SIZES, "pairs, 98 % of them wrong", log=True),
        Axis(low, high, shown, "seconds of the proof", log=True),
        (62, 34, 470, 288),
    )
    for name, colour in _SHOWN.items():
        plot.line(_SIZES, seconds[name], colour)
        plot.dots(_SIZES, seconds[name], colour)
        plot.label(_SIZES[-1] * 1.12, seconds[name][-1], name.replace("nothing", "nothing known"), colour)
    return document(640, 340, [plot.draw()], "Seconds of the proof against the number of pairs")
