"""What the figures for notebooks share: colours, checks, the place of the camera."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tear3d.errors import InputError, MissingExtraError
from tear3d.problem.arrays import FloatArray, as_points, finite_rows
from tear3d.problem.flat import drawn
from tear3d.report.scene import _orientation
from tear3d.result import Result

SOURCE, TARGET, INLIER, OUTLIER = "#e0700f", "#2c6cb0", "#0b8f63", "#c2415f"
AWAY = 1.5
"""From the middle of a scene to the camera, in sides of the scene."""


def plotly() -> Any:
    """Figures and bars of plotly; the figures bring a still picture along."""
    try:
        from plotly.graph_objects import Bar

        from tear3d.report.pictured import PicturedFigure
    except ImportError as error:
        package = "pillow" if error.name in ("PIL", "pillow") else "plotly"
        raise MissingExtraError(package, "report", "plotting") from error
    return SimpleNamespace(Bar=Bar, Figure=PicturedFigure)


def pairs_of(result: Result, source: ArrayLike, target: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The pairs of a result, in space; an InputError when they are not its pairs."""
    x, y = (np.asarray(points, dtype=np.float64) for points in drawn(source, target))
    expected = (len(result.inlier_mask), 3)
    for name, points in (("source", x), ("target", y)):
        if points.shape != expected:
            raise InputError(f"{name} has shape {points.shape}: pass the result's pairs as rows {expected}")
    return x, y


def cloud_of(points: Any, name: str) -> FloatArray:
    """The finite points of a cloud; an InputError when there are none."""
    array = as_points(points, name, finite=False)
    array = array[finite_rows(array)]
    if len(array) == 0:
        raise InputError(f"{name} has no finite points: there is nothing to draw")
    return array


def pose_of(pose: ArrayLike) -> FloatArray:
    matrix = np.asarray(pose, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise InputError(f"pose is not a finite 4×4 matrix: its shape is {matrix.shape}")
    return matrix


def moved(pose: FloatArray, points: FloatArray) -> FloatArray:
    """Points under a pose, which may have a scale."""
    return np.asarray(points @ pose[:3, :3].T + pose[:3, 3])


def framed(clouds: Sequence[FloatArray], *, stray: bool) -> dict[str, Any]:
    """What a plotly scene needs to show clouds in a cube, seen obliquely from above with the long side across.

    Ranges are those of all points, or with `stray` of all but the outermost.
    """
    boxes = [np.quantile(cloud, (0.01, 0.99) if stray else (0.0, 1.0), axis=0) for cloud in clouds]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    reach = (0.75 if stray else 0.52) * float(np.max(high - low)) or 1.0
    _, up, towards = _orientation(clouds[-1])
    axes = [{"range": [m - reach, m + reach]} for m in (0.5 * (low + high)).tolist()]
    camera = {"eye": _named(AWAY * towards), "up": _named(up)}
    return {"aspectmode": "cube", "camera": camera} | dict(zip(("xaxis", "yaxis", "zaxis"), axes, strict=True))


def _named(vector: FloatArray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))
