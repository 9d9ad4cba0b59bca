"""Points and lines in space, as pixels: what is nearer hides what is behind it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

FIELD = np.pi / 4
"""Field of view of the camera; that of plotly."""
EYE = (1.25, 1.25, 1.25)
"""Where the camera stands unless a figure says so; that of plotly."""
MOST_STEPS = 400
"""Of a line: it is drawn as so many dots at most."""


class View(NamedTuple):
    """A camera that looks at the middle of a cube."""

    middle: FloatArray
    side: float
    axes: FloatArray
    """Rows right, up, towards the camera."""
    away: float
    """From the middle to the camera, in sides."""

    def project(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places from −1 to 1, up positive, and depths."""
        turned = ((points - self.middle) / self.side) @ self.axes.T
        depth = self.away - turned[:, 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = turned[:, :2] / (np.tan(0.5 * FIELD) * depth[:, None])
        return np.where(depth[:, None] > 0.05, flat, np.nan), depth


class Dots(NamedTuple):
    """Points to be drawn, one row of each array for a point."""

    points: FloatArray
    colours: NDArray[np.uint8]
    radii: FloatArray
    """In pixels."""
    faint: NDArray[np.bool_]
    """To be seen through: drawn behind all others."""


def view_of(scene: Any, points: FloatArray) -> View:
    """The camera of a plotly scene; without ranges it shows all points."""
    ranges = [axis.range for axis in (scene.xaxis, scene.yaxis, scene.zaxis)]
    if all(each is not None for each in ranges):
        low, high = np.array(ranges, dtype=np.float64).T
    else:
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    eye = _vector(scene.camera.eye, EYE)
    away = float(np.linalg.norm(eye))
    towards = eye / away
    right = np.cross(_vector(scene.camera.up, (0.0, 0.0, 1.0)), towards)
    right /= np.linalg.norm(right)
    side = float(np.max(high - low)) or 1.0
    return View(0.5 * (low + high), side, np.array([right, np.cross(towards, right), towards]), away)


def inside(view: View, points: FloatArray) -> NDArray[np.bool_]:
    """Which points lie in the cube; the others are not drawn, as in the figure."""
    return np.asarray(np.abs(points - view.middle).max(axis=1) <= 0.5 * view.side * (1.0 + 1e-9))


def along(view: View, ends: FloatArray, pixels: float) -> FloatArray:
    """Points on lines whose (N, 2, 3) ends are given, about one for each pixel."""
    if len(ends) == 0:
        return np.empty((0, 3))
    flat = view.project(ends.reshape(-1, 3))[0].reshape(-1, 2, 2)
    lengths = np.nan_to_num(np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1))
    steps = np.clip(lengths * 0.5 * pixels, 1, MOST_STEPS).astype(int) + 1
    rows = np.repeat(np.arange(len(ends)), steps)
    first = np.cumsum(steps) - steps
    part = (np.arange(len(rows)) - first[rows]) / (steps[rows] - 1)
    return np.asarray(ends[rows, 0] + part[:, None] * (ends[rows, 1] - ends[rows, 0]))


def splat(view: View, dots: Dots, size: int) -> Any:
    """Bytes of a (size, size, 3) picture, white where there is nothing; what is farther away is drawn first."""
    seen = inside(view, dots.points)
    points, colours, radii, faint = dots.points[seen], dots.colours[seen], dots.radii[seen], dots.faint[seen]
    flat, depth = view.project(points)
    there = np.flatnonzero(np.isfinite(flat).all(axis=1))
    order = there[np.lexsort((-depth[there], ~faint[there]))]
    column = np.floor(0.5 * size * (1.0 + flat[order, 0])).astype(int)
    row = np.floor(0.5 * size * (1.0 - flat[order, 1])).astype(int)
    nearest = np.full((size, size), -1, dtype=np.int64)
    rank = np.arange(len(order))
    reach = int(np.ceil(radii.max())) if len(radii) else 0
    for down in range(-reach, reach + 1):
        for across in range(-reach, reach + 1):
            big = np.hypot(down, across) <= radii[order]
            i, j = row[big] + down, column[big] + across
            held = (i >= 0) & (i < size) & (j >= 0) & (j < size)
            np.maximum.at(nearest, (i[held], j[held]), rank[big][held])
    picture = np.full((size, size, 3), 255, dtype=np.uint8)
    drawn = nearest >= 0
    picture[drawn] = colours[order[nearest[drawn]]]
    return picture


def _vector(given: Any, default: tuple[float, float, float]) -> FloatArray:
    values = (given.x, given.y, given.z)
    return np.array(default if any(v is None for v in values) else values, dtype=np.float64)
