"""The cells of a search as shapes on a sphere or a circle.

Cells of the first row are directions, those of the second lie on a circle. Cells of the pose are turns away from the
pose found: they are drawn on the sphere of axes, the angle as colour. What is recorded of these are cells below which
pieces of the search began, and those left open; not what the former were split into.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.prove.certificate import POSE
from tear3d.report.sampling import choose
from tear3d.result import StageCertificate

SPLIT, PRUNED, OPEN = 0, 1, 2
TONES = 7
"""The last of the colours, from 0 on."""
_MOST_TURNS = 6_000
_NO_TURN = 1e-9
_SMALLEST, _LARGEST = 0.01, 0.06
"""Radii of the dots that stand for turns."""
_FACE_AXES = ((1, 2), (2, 0), (0, 1))


@dataclass(frozen=True)
class Arcs:
    """Cells of a search over a circle: rows of (angle, half width, depth, fate)."""

    rows: FloatArray


@dataclass(frozen=True)
class SphereCells:
    """Cells of a search over the sphere: rows of (x, y, z, half width, level, fate).

    A positive half width is that of an equal-angle square of the cube map, in radians of the
    face's two angles; a negative one is minus the radius of a disc, for cells of other shapes. The level, from the
    lowest to the highest, is the colour: the depth of a direction, or for turns how little they turn.
    """

    rows: FloatArray
    found: FloatArray | None
    """The direction where the search ended, when the pose confirms it."""
    towards: FloatArray
    """The direction worth looking at first."""
    levels: tuple[float, float] = (0.0, 1.0)
    turns: bool = False
    """Whether these are axes of turns instead of directions."""

    @property
    def open(self) -> int:
        """How many were left open."""
        return int(np.count_nonzero(self.rows[:, 5] == OPEN))


def cells_of(stage: StageCertificate, rotation: FloatArray) -> Arcs | SphereCells | None:
    """The visited cells of a stage, or None when none were recorded."""
    visited = stage.visited[np.all(np.isfinite(stage.visited), axis=1)]
    if len(visited) == 0:
        return None
    if stage.name == POSE:
        return _turns(visited)
    centres = visited[:, :3]
    _, singular, axes = np.linalg.svd(centres, full_matrices=False)
    if len(visited) > 2 and singular[2] < 1e-6 * singular[0]:
        angles = np.arctan2(centres @ axes[1], centres @ axes[0])
        rows = np.column_stack([angles, visited[:, 3:]])
        return Arcs(rows[np.argsort(rows[:, 2], kind="stable")])
    rows = visited.copy()
    rows[:, :3], rows[:, 3] = snap_to_cube(centres, visited[:, 3])
    rows = rows[np.argsort(rows[:, 4], kind="stable")]
    deepest = rows[-1, :3]
    nearest = rotation[np.argmax(rotation @ deepest)]
    found = nearest if nearest @ deepest > np.cos(0.2) else None
    levels = float(rows[0, 4]), float(rows[-1, 4])
    return SphereCells(rows, found, deepest if found is None else found, levels)


def axes_and_angles(visited: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The cells of a pose that turn at all (more than rounding does), their unit axes, and their angles."""
    angles = np.linalg.norm(visited[:, :3], axis=1)
    some = visited[angles > _NO_TURN]
    angles = angles[angles > _NO_TURN]
    return some, some[:, :3] / angles[:, None], angles


def _turns(visited: FloatArray) -> SphereCells | None:
    some, axes, angles = axes_and_angles(visited[choose(len(visited), _MOST_TURNS)])
    if len(some) == 0:
        return None
    sizes = -np.clip(0.2 * some[:, 3], _SMALLEST, _LARGEST)
    left = some[:, 5] == OPEN
    # Those left open have a colour of their own, and lie above the others.
    level = np.where(left, TONES + 1.0, TONES * (1.0 - np.minimum(angles / np.pi, 1.0)))
    rows = np.column_stack([axes, sizes, level, np.where(left, OPEN, PRUNED)])  # pruned ones are coloured
    rows = rows[np.argsort(rows[:, 4], kind="stable")]
    return SphereCells(rows, None, axes[np.argmin(angles)], (0.0, float(TONES)), turns=True)


def snap_to_cube(centres: FloatArray, radii: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres and half widths of the cube-map cells with about these centres and angular radii.

    Cells at level k are squares of half width (π/4)/2^k in the two angles of their face. The
    level is the one whose corners lie nearest to the given radius; where none fits, the cell
    is not of the cube map: it keeps its centre and gets minus the radius of a disc as large as
    a square of that radius.
    """
    face = np.argmax(np.abs(centres), axis=1)
    rows = np.arange(len(centres))
    axes = np.array(_FACE_AXES)[face]
    normal = centres[rows, face]
    angles = np.arctan2(np.take_along_axis(centres, axes, axis=1), np.abs(normal)[:, None])

    snapped, half_widths = centres.copy(), -radii * np.sqrt(2.0 / np.pi)
    closest = np.full(len(radii), 0.15)
    for level in range(24):
        half = np.pi / 4 / 2**level
        index = np.clip(np.floor((angles + np.pi / 4) / (2 * half)), 0, 2**level - 1)
        middle = (2 * index + 1) * half - np.pi / 4
        mismatch = np.abs(_corner_distance(middle, half) / np.maximum(radii, 1e-12) - 1.0)
        better = mismatch < closest
        closest[better], half_widths[better] = mismatch[better], half
        point = np.empty_like(centres)
        point[rows, face] = np.sign(normal)
        np.put_along_axis(point, axes, np.tan(middle), axis=1)
        snapped[better] = (point / np.linalg.norm(point, axis=1, keepdims=True))[better]
    return snapped, half_widths


def _corner_distance(middle: FloatArray, half: float) -> FloatArray:
    """Angle from the middle of a cell, given by its two angles, to its farthest corner."""
    centre = np.column_stack([np.tan(middle), np.ones(len(middle))])
    farthest = np.zeros(len(middle))
    for step in ((-half, -half), (-half, half), (half, -half), (half, half)):
        corner = np.column_stack([np.tan(middle + step), np.ones(len(middle))])
        sine = np.linalg.norm(np.cross(centre, corner), axis=1)
        farthest = np.maximum(farthest, np.arctan2(sine, np.sum(centre * corner, axis=1)))
    return farthest
