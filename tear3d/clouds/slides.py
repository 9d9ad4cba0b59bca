"""Motions along which a surface slides in itself (Gelfand, Guibas 2004)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tear3d.judge.ambiguity import FreeMotion
from tear3d.judge.symmetry import plain
from tear3d.problem.arrays import FloatArray
from tear3d.problem.turns import turns_by

# Mean square motion along the normals, as a share of the mean square motion of a point. A free choice, and a wide one:
# whoever is let through has to prove itself.
_LEAST = 0.05


@dataclass(frozen=True)
class Slide:
    """A small motion x ↦ x + turn × x + shift; the point that moves farthest moves by one."""

    turn: FloatArray
    shift: FloatArray

    def motion(self, amount: float) -> FloatArray:
        """The 4×4 motion that results when it goes on, until that point has moved by about `amount`."""
        out = np.eye(4)
        angle = float(np.linalg.norm(self.turn))
        out[:3, 3] = amount * self.shift
        if angle > 1e-9:
            axis = self.turn / angle
            along = (self.shift @ axis) * axis
            centre = np.cross(axis, self.shift) / angle
            out[:3, :3] = turns_by(amount * self.turn)
            out[:3, 3] = centre - out[:3, :3] @ centre + amount * along
        return out


def likely_slides(points: FloatArray, normals: FloatArray) -> list[Slide]:
    """Independent directions, the freest first."""
    centre = points.mean(axis=0)
    points = points - centre
    size = float(np.sqrt(np.mean(np.sum(points**2, axis=1))))
    columns = np.concatenate((np.cross(points / size, normals), normals), axis=1)
    values, vectors = np.linalg.eigh(columns.T @ columns / len(points))
    slides = []
    for value, vector in zip(values, vectors.T, strict=True):
        if value > _LEAST:
            break
        turn, shift = vector[:3] / size, vector[3:]
        reach = np.linalg.norm(np.cross(turn, points) + shift, axis=1).max()
        # Around the origin: turn × (x − centre) + shift.
        slides.append(Slide(turn / reach, (shift - np.cross(turn, centre)) / reach))
    return slides


def name_slides(slides: list[Slide], points: FloatArray) -> list[FreeMotion]:
    """Rotations and translations that together span the slides of some points; a screw has no name and is left out."""
    if not slides:
        return []
    centre = points.mean(axis=0)
    size = float(np.sqrt(np.mean(np.sum((points - centre) ** 2, axis=1))))
    turns = np.array([slide.turn for slide in slides])
    shifts = np.array([slide.shift + np.cross(slide.turn, centre) for slide in slides])
    norms = np.sqrt(np.sum((size * turns) ** 2 + shifts**2, axis=1))[:, None]
    turns, shifts = size * turns / norms, shifts / norms
    mix, strength, _ = np.linalg.svd(turns)
    rank = int(np.count_nonzero(strength > 0.2))
    turning, sliding = mix[:, :rank].T, mix[:, rank:].T
    directions = np.linalg.qr((sliding @ shifts).T)[0].T if len(sliding) else np.zeros((0, 3))
    named = []
    for row in turning:
        turn, shift = row @ turns, row @ shifts
        angle = float(np.linalg.norm(turn))
        axis = turn / angle
        shift = shift - directions.T @ (directions @ shift)
        if abs(shift @ axis) > 0.2 * angle:
            continue
        through = centre + size * np.cross(axis, shift) / angle
        named.append(FreeMotion("rotation", plain(axis), plain(through), None))
    return named + [FreeMotion("translation", plain(axis), plain(centre), None) for axis in directions]
