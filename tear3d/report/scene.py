"""The two clouds and the pairs between them as small buffers for the 3D view."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.features.work import each
from tear3d.io.cloud import Cloud
from tear3d.problem.arrays import FloatArray
from tear3d.report.sampling import choose, thin
from tear3d.report.shading import UNKNOWN, Lengths, Shading
from tear3d.report.tints import Choice, choices

POINT_BUDGET = 30_000
"""Points of one cloud; a view shows two clouds."""
LINE_BUDGET = 1_500
_FAR_APART = 3.0
_FLAT = 0.15


class Scene(NamedTuple):
    """Two clouds, ready to be drawn."""

    drawn: dict[str, Any]
    """For JSON."""
    shading: Shading | None
    """How far they are apart; None where only pairs are known."""
    tints: Sequence[Choice] = ()
    """The colours that the files have."""


class Poses(NamedTuple):
    """What the source is moved by."""

    own: Mapping[str, FloatArray]
    """Of the result, by name; the last one is returned."""
    others: Sequence[FloatArray] = ()
    """Its alternatives."""

    @property
    def final(self) -> FloatArray:
        return self.own[self.name]

    @property
    def name(self) -> str:
        """Of the last one."""
        return list(self.own)[-1]

    def named(self) -> dict[str, FloatArray]:
        """All of them, the last one first."""
        return {self.name: self.final, **self.own, **{other_name(k): pose for k, pose in enumerate(self.others)}}


def other_name(number: int) -> str:
    """What shadings call an alternative, the first is 0."""
    return f"other {number + 1}"


def pack(values: NDArray[Any]) -> str:
    """Base64 of little-endian float32."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def build_scene(
    source: FloatArray,
    target: FloatArray,
    inliers: NDArray[np.bool_],
    poses: Poses,
    clouds: tuple[Cloud | None, Cloud | None] = (None, None),
    *,
    parts: Sequence[tuple[NDArray[np.bool_], FloatArray]] = (),
    lengths: Lengths = UNKNOWN,
) -> Scene:
    """What the 3D view draws; `parts` are the pairs and the poses of several motions, `lengths` the scale for how
    far clouds are apart.

    Each cloud is centred on its own median in float64 and scaled before it becomes float32, so
    that UTM coordinates keep their digits; the poses are rewritten for these coordinates.
    """
    given = [Cloud(pairs) if cloud is None else cloud for pairs, cloud in zip((source, target), clouds, strict=True)]
    whole = [cloud.points for cloud in given]
    chosen = each(lambda points: thin(points, POINT_BUDGET), whole)
    left, right = (points[rows] for points, rows in zip(whole, chosen, strict=True))
    shading = None if None in clouds else Shading.of(left, whole[1], poses.named(), lengths)
    tints = choices(given)
    source_origin, target_origin = np.median(left, axis=0), np.median(right, axis=0)
    left, right = left - source_origin, right - target_origin
    scale = max(_radius(left), _radius(right)) or 1.0
    left, right = left / scale, right / scale

    before = np.eye(4)
    offset = (source_origin - target_origin) / scale
    distance = float(np.linalg.norm(offset))
    moved_together = distance > _FAR_APART
    before[:3, 3] = offset * (1.5 / distance) if moved_together else offset

    def inside(pose: FloatArray) -> FloatArray:
        matrix = pose.copy()
        matrix[:3, 3] = (pose[:3, :3] @ source_origin + pose[:3, 3] - target_origin) / scale
        return matrix

    def between(mask: NDArray[np.bool_]) -> FloatArray:
        rows = _some(mask)
        return np.hstack([(source[rows] - source_origin) / scale, (target[rows] - target_origin) / scale])

    for mask, _ in parts:
        inliers = inliers | mask
    lines = {"inliers": between(inliers), "outliers": between(~inliers)}
    moving = [{"pairs": pack(between(mask)), "matrix": _column_major(inside(pose))} for mask, pose in parts]
    # Target points of outlier pairs say nothing about the shape: frame what the pose explains.
    shape = right if clouds[1] is not None or len(lines["inliers"]) < 3 else lines["inliers"][:, 3:]
    moved = _move(inside(poses.final), left)
    others = []
    for number, pose in enumerate(map(inside, poses.others)):
        near = None if shading is None else shading.packed_near(other_name(number))
        # Both views that stand side by side have the same frame, in which all of both is in sight.
        frame = _frame(moved, _move(pose, left), shape)
        others.append({"matrix": _column_major(pose), "near": near, "frame": frame})
    drawn = {
        "source": pack(left),
        "target": pack(right),
        "inliers": pack(lines["inliers"]),
        "outliers": pack(lines["outliers"]),
        "parts": moving,
        "before": _column_major(before),
        "after": {name: _column_major(inside(pose)) for name, pose in poses.own.items()},
        "others": others,
        "frames": [_frame(_move(before, left), shape), _frame(moved, shape)],
        "orientation": _orientation(shape).ravel().tolist(),
        "faint": clouds[1] is None and bool(2 * np.count_nonzero(inliers) < len(inliers)),
        "movedTogether": distance * scale if moved_together else None,
        "shades": None if shading is None else {name: shading.packed(name) for name in poses.own},
        "near": None if shading is None else {name: shading.packed_near(name) for name in poses.own},
        "tints": [
            [None if tint is None else tint.packed(rows) for tint, rows in zip(choice.tints, chosen, strict=True)]
            for choice in tints
        ],
        "shown": [len(left), len(right), len(lines["inliers"]), len(lines["outliers"])],
    }
    return Scene(drawn, shading, tints)


def _some(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    rows = np.flatnonzero(mask)
    return rows[choose(len(rows), LINE_BUDGET)]


def _radius(points: FloatArray) -> float:
    return float(np.quantile(np.linalg.norm(points, axis=1), 0.98))


def _move(matrix: FloatArray, points: FloatArray) -> FloatArray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _column_major(matrix: FloatArray) -> list[float]:
    return [float(value) for value in matrix.T.ravel()]


def _frame(*clouds: FloatArray) -> list[float]:
    """Centre and radius of what a view should show, ignoring stray points."""
    boxes = [np.quantile(cloud, (0.01, 0.99), axis=0) for cloud in clouds]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    centre = 0.5 * (low + high)
    radius = max(float(np.quantile(np.linalg.norm(cloud - centre, axis=1), 0.99)) for cloud in clouds) or 1.0
    return [*centre.tolist(), radius]


def _orientation(points: FloatArray) -> FloatArray:
    """Rows right, up, towards the viewer: z (or a flat cloud's normal) up, the long side seen obliquely."""
    up = np.array([0.0, 0.0, 1.0])
    if len(points) > 3:
        values, vectors = np.linalg.eigh(np.cov(points.T))
        if values[0] < _FLAT**2 * values[1]:
            up = vectors[:, 0]
            up = up * np.sign(up[np.argmax(np.abs(up))])
    level = points - np.outer(points @ up, up)
    right = np.linalg.svd(level - level.mean(axis=0), full_matrices=False)[2][0]
    right = right - (right @ up) * up
    if np.linalg.norm(right) < 0.5:  # all points on one vertical line
        right = np.cross(np.eye(3)[np.argmin(np.abs(up))], up)
    right *= np.sign(right[np.argmax(np.abs(right))]) / np.linalg.norm(right)
    ahead = np.cross(right, up)
    yaw, tilt = np.radians(25.0), np.radians(28.0)
    front = ahead * np.cos(yaw) - right * np.sin(yaw)
    right = right * np.cos(yaw) + ahead * np.sin(yaw)
    towards = front * np.cos(tilt) + up * np.sin(tilt)
    return np.array([right, np.cross(towards, right), towards])
