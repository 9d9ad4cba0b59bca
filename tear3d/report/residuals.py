"""Residuals of the pairs and their histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

_CHUNK = 1 << 15
_BINS_PER_DECADE = 10


@dataclass(frozen=True)
class Histogram:
    """Counts over logarithmic bins; the first bin also holds everything below it."""

    edges: FloatArray
    inliers: NDArray[np.int64]
    outliers: NDArray[np.int64]
    threshold: float | None
    """Where the noise bound lies on the axis."""
    relative: bool
    """Residuals divided by each pair's own noise bound."""


def residuals(source: FloatArray, target: FloatArray, transformation: FloatArray) -> FloatArray:
    """Euclidean residuals ‖y − Rx − t‖, without temporaries of the size of the input."""
    out = np.empty(len(source))
    rotation, translation = transformation[:3, :3], transformation[:3, 3]
    for start in range(0, len(source), _CHUNK):
        rows = slice(start, start + _CHUNK)
        out[rows] = np.linalg.norm(target[rows] - source[rows] @ rotation.T - translation, axis=1)
    return out


def noise_bounds(value: Any, pairs: int) -> float | FloatArray | None:
    """The noise bound of a result's settings as a number, an array per pair, or None if unknown."""
    try:
        bounds = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if bounds.shape not in ((), (1,), (pairs,)) or not np.all(np.isfinite(bounds)):
        return None
    if bounds.size == 1 or np.ptp(bounds) == 0.0:
        return float(bounds.flat[0])
    return bounds


def histogram(distances: FloatArray, inliers: NDArray[np.bool_], bounds: float | FloatArray | None) -> Histogram:
    """Histogram of residuals; relative to the noise bound where it differs from pair to pair."""
    relative = False
    threshold: float | None = None
    if isinstance(bounds, np.ndarray):
        if np.all(bounds > 0.0):
            relative, threshold = True, 1.0
            distances = distances / bounds
    elif bounds is not None and bounds > 0.0:
        threshold = bounds
    top = float(distances.max(initial=0.0)) or threshold or 1.0
    centre = threshold or top
    top = max(top, 2.0 * centre)
    positive = distances[distances > 0.0]
    bottom = float(np.clip(positive.min(initial=centre), centre * 1e-3, centre * 1e-1))
    # Edges are placed so that one of them is the threshold: no bin mixes both sides of it.
    below = int(np.ceil(_BINS_PER_DECADE * np.log10(centre / bottom)))
    above = int(np.ceil(_BINS_PER_DECADE * np.log10(top / centre) + 1e-9))
    edges = centre * 10.0 ** (np.arange(-below, above + 1) / _BINS_PER_DECADE)
    edges[below] = centre
    return Histogram(
        edges, _counts(distances[inliers], edges), _counts(distances[~inliers], edges), threshold, relative
    )


def _counts(values: FloatArray, edges: FloatArray) -> NDArray[np.int64]:
    # Bins are closed on the right, like the noise bound itself.
    index = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)
    return np.bincount(index, minlength=len(edges) - 1)
