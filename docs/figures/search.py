"""Figures from real runs: the cells a search visited, and how the noise bound changes the result."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import tear3d
from docs.figures.svg import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, Axis, Plot, document, save, text
from tear3d.prove.domains.sphere import CubeCell

_DEPTHS = ("#e6eff7", "#c4dbec", "#86b4d8", "#4a8fc4", "#2c6cb0", "#1d4a80", "#123055")


def draw(folder: Path) -> None:
    save(folder / "sphere-cells.svg", _sphere())
    save(folder / "noise-bound.svg", _noise_bound())


def _sphere() -> str:
    problem = tear3d.synthetic.make_problem(10_000, 0.95, cloud="teapot", seed=0)
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify="rows")
    stage = result.certificate.stages[0]
    visited = stage.visited[stage.visited[:, 5] > 0]
    found = visited[np.argmin(visited[:, 3]), :3]
    body = []
    for centre_x, side, words in ((175.0, 1.0, "towards the optimum"), (485.0, -1.0, "the other side")):
        body.append(f"<circle cx='{centre_x}' cy='180' r='140' fill='#f6f8fa' stroke='{FAINT}'/>")
        body += _hemisphere(visited, side * _tilted(found), centre_x, 180.0, 140.0)
        if side > 0:
            body += _mark(found, _tilted(found), centre_x, 180.0, 140.0)
        body.append(text(centre_x, 350, words, anchor="middle"))
    body.append(text(20, 24, f"first row: {stage.cells} cells visited", more="font-weight='bold'"))
    for k, colour in enumerate(_DEPTHS):
        body.append(f"<rect x='{440 + 22 * k}' y='10' width='22' height='14' fill='{colour}'/>")
    body.append(text(432, 22, "pruned: early", colour=GREY, anchor="end"))
    body.append(text(600, 22, "late", colour=GREY))
    return document(660, 366, body, "Cells of the sphere of row directions that a search visited")


def _tilted(direction: np.ndarray) -> np.ndarray:
    """A view in which the direction is not dead centre, where the small cells would hide each other."""
    side = np.cross(direction, [0.0, 0.0, 1.0])
    view = direction + 0.35 * side / np.linalg.norm(side) + [0.0, 0.0, 0.2]
    return view / np.linalg.norm(view)


def _screen(view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The directions to the right and up for someone who looks against `view`."""
    right = np.cross([0.0, 0.0, 1.0], view)
    right /= np.linalg.norm(right)
    return right, np.cross(view, right)


def _mark(direction: np.ndarray, view: np.ndarray, x: float, y: float, radius: float) -> list[str]:
    right, up = _screen(view)
    at = x + radius * direction @ right, y - radius * direction @ up
    return [f"<circle cx='{at[0]:.1f}' cy='{at[1]:.1f}' r='16' fill='none' stroke='{RED}' stroke-width='2'/>"]


def _hemisphere(rows: np.ndarray, view: np.ndarray, x: float, y: float, radius: float) -> list[str]:
    right, up = _screen(view)
    out = []
    shallow = rows[:, 4].min()
    for row in rows[np.argsort(rows[:, 4])]:
        vertices = _vertices(row[:3], row[3])
        if (vertices @ view).min() < 0.0:
            continue
        corners = " ".join(f"{x + radius * v @ right:.1f},{y - radius * v @ up:.1f}" for v in vertices)
        colour = _DEPTHS[min(int(row[4] - shallow), len(_DEPTHS) - 1)]
        out.append(f"<polygon points='{corners}' fill='{colour}' stroke='#ffffff' stroke-width='0.5'/>")
    return out


def _vertices(centre: np.ndarray, theta: float) -> np.ndarray:
    """The cube-map cell with this centre and angular radius."""
    axis = int(np.argmax(np.abs(centre)))
    face = 2 * axis + (centre[axis] < 0)
    a, b = (math.atan(centre[(axis + k) % 3] / abs(centre[axis])) for k in (1, 2))
    cells = []
    for level in range(14):
        place = [min(int((angle / (math.pi / 2) + 0.5) * 2**level), 2**level - 1) for angle in (a, b)]
        cells.append(CubeCell(int(face), level, *place))
    return min(cells, key=lambda cell: abs(math.log(cell.radius / theta))).vertices


def _noise_bound() -> str:
    problem = tear3d.synthetic.make_problem(5000, 0.95, cloud="teapot", seed=1)
    factors = np.array([0.125, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6])
    errors, inliers = [], []
    for factor in factors:
        bound = float(factor * problem.noise_bound)
        result = tear3d.register(problem.source, problem.target, noise_bound=bound, certify=False)
        errors.append(tear3d.metrics.rotation_error(result.transformation, problem.transformation))
        inliers.append(result.num_inliers)
    sigmas = 5.54 * factors
    x = Axis(sigmas[0], sigmas[-1], (1, 2, 4, 8, 16), "noise bound, in standard deviations of the noise", log=True)
    left = Plot(x, Axis(0.05, 5.0, (0.05, 0.2, 1, 5), "rotation error, degrees", log=True), box=(56, 36, 320, 220))
    left.line(sigmas, errors, BLUE)
    left.dots(sigmas, errors, BLUE)
    shifted = Axis(0.0, 350.0, (0, 100, 200, 300), "pairs within the bound")
    right = Plot(x, shifted, box=(400, 36, 664, 220))
    right.line(sigmas[[0, -1]], [250, 250], INK, dash="6 4", width=1.5)
    right.label(1.0, 262, "right pairs", INK)
    right.line(sigmas, inliers, ORANGE)
    right.dots(sigmas, inliers, ORANGE)
    for plot in (left, right):
        low, high = plot.y.low, plot.y.high
        for sigma in (3.0, 6.0):
            plot.line([sigma, sigma], [low, high], GREEN, dash="2 4", width=1.5)
    return document(684, 272, [left.draw(), right.draw()], "Rotation error and inliers against the noise bound")
