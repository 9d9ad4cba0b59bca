"""What a live view of a result shows: both clouds, the source under the pose, and the pairs that agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.report import judged, words
from tear3d.report.drawing import cloud_of, moved, pairs_of
from tear3d.report.sampling import choose, thin
from tear3d.result import Result

BUDGET, LINES = 100_000, 2_000
"""Points of a cloud and pairs that are shown at most."""


@dataclass(frozen=True)
class Sight:
    """Points in coordinates that begin at `origin`, which keeps the digits that float32 has for what matters."""

    origin: FloatArray
    """In the frame of the target: the median of its points."""
    source_origin: FloatArray
    """In the frame of the source; `source` begins there."""
    source: FloatArray
    target: FloatArray
    lines: FloatArray
    """(M, 2, 3): where the pose puts a source point, and the target point it is paired with."""
    pose: FloatArray
    """4×4, from the coordinates of `source` to those of `target`."""
    said: str
    """What was found, and how much of it is shown."""

    @property
    def aligned(self) -> FloatArray:
        """The source under the pose, in the coordinates of `target`."""
        return moved(self.pose, self.source)

    @property
    def apart(self) -> FloatArray:
        """Where the coordinates of `source` begin, as given, in those of `target`."""
        return np.asarray(self.source_origin - self.origin)

    def framed(self) -> tuple[FloatArray, float]:
        """The middle of what to look at, and how wide it is: the aligned source, without stray points."""
        low, high = np.quantile(self.aligned, (0.01, 0.99), axis=0)
        return 0.5 * (low + high), float(np.max(high - low)) or 1.0


def sight_of(
    result: Result | CloudResult,
    source: Any = None,
    target: Any = None,
    *,
    source_cloud: Any = None,
    target_cloud: Any = None,
    budget: int = BUDGET,
) -> Sight:
    """What to show of a result; `source` and `target` are its pairs, or for that of clouds its clouds.

    Of clouds with more than `budget` points a part is shown, spread evenly and the same every time.
    """
    if isinstance(result, CloudResult):
        pairs, x, y = result.result, result.source_matches, result.target_matches
        left = result.source_points if source is None else source
        right = result.target_points if target is None else target
    else:
        if source is None or target is None:
            raise InputError("the result does not hold its pairs: pass source and target")
        pairs = result
        x, y = pairs_of(result, source, target)
        left, right = x, y
    left = cloud_of(left if source_cloud is None else source_cloud, "source")
    right = cloud_of(right if target_cloud is None else target_cloud, "target")
    counts = len(left), len(right)
    left, right = (cloud[thin(cloud, budget)] for cloud in (left, right))
    matrix, origins = result.transformation, (np.median(left, axis=0), np.median(right, axis=0))
    pose = matrix.copy()
    pose[:3, 3] = moved(matrix, origins[0][None])[0] - origins[1]
    rows = np.flatnonzero(pairs.inlier_mask)
    shown = rows[choose(len(rows), LINES)]
    lines = np.stack([moved(matrix, x[shown]), y[shown]], axis=1) - origins[1]
    told = judged.verdict(pairs, result if isinstance(result, CloudResult) else None)
    said = [
        f"{told.headline}.",
        _part("source points", len(left), counts[0]),
        _part("target points", len(right), counts[1]),
        _part("inlier pairs", len(shown), len(rows)),
        f"Coordinates begin at {origins[1].tolist()} of the target's frame.",
    ]
    return Sight(origins[1], origins[0], left - origins[0], right - origins[1], lines, pose, "\n\n".join(said))


def _part(things: str, shown: int, of: int) -> str:
    if shown == of:
        return f"All {words.count(of)} {things} are shown."
    return f"{words.count(shown)} of {words.count(of)} {things} are shown, the same every time."
