"""The scene of docs/instances.md: target points as given, and those of each motion in colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tear3d
from docs.figures.svg import BLUE, GREEN, GREY, ORANGE, document, save, text

_COLOURS = (GREEN, BLUE, ORANGE)
_SIDE, _REACH = 300.0, 3.4


def draw(folder: Path) -> None:
    scene = tear3d.synthetic.make_scene(3000, shares=(0.10, 0.07, 0.04), sizes=0.4, seed=3)
    result = tear3d.register(scene.source, scene.target, noise_bound=scene.noise_bound, max_instances=5, certify=False)
    titles = ("the targets of all pairs", f"those of {len(result.instances)} motions")
    body = [text(20 + 330 * k, 24, title, more="font-weight='bold'") for k, title in enumerate(titles)]
    for number in range(len(result.instances) + 1):
        own = scene.target[result.labels == number]
        body += _dots(own, 20.0, GREY, faint=False)
        body += _dots(own, 350.0, _COLOURS[(number - 1) % 3] if number else GREY, faint=number == 0)
    for number, one in enumerate(result.instances):
        body.append(text(350 + 100 * number, 362, f"● {one.num_inliers} pairs", colour=_COLOURS[number % 3]))
    save(folder / "instances.svg", document(670, 376, body, "Pairs of three objects that move on their own"))


def _dots(points: np.ndarray, left: float, colour: str, *, faint: bool) -> list[str]:
    places = (points[:, :2] + _REACH) / (2.0 * _REACH)
    inside = places[((places > 0.0) & (places < 1.0)).all(axis=1)]
    path = "".join(f"M{left + _SIDE * a:.0f} {40 + _SIDE * (1 - b):.0f}h0" for a, b in inside)
    opacity = 0.15 if faint else 0.7
    return [
        f"<path d='{path}' stroke='{colour}' stroke-width='2.4' stroke-linecap='round' fill='none' "
        f"opacity='{opacity}'/>"
    ]
