"""Slow, obvious twins of the bounds for the whole pose, and exact rational savings to hold them against."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.points import Packed, pack
from tests.naive import chart_rotation

# ---------------------------------------------------------------- cells of rotations


class Cell(NamedTuple):
    """What is known of a cell of rotations, without margins for rounding."""

    centre: np.ndarray
    rotation: np.ndarray
    """Of the centre."""
    half: np.ndarray
    motion: np.ndarray
    """Columns of 2M."""
    remainder: float
    angle: float
    mu: float


def cell_of(face, low, high):
    """Section 6, word by word."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    c, h = (low + high) / 2, (high - low) / 2
    square = c @ c
    motion = 2 * np.array([e - np.cross(e, c) for e in np.eye(3)]).T / (1 + square)
    length = math.sqrt(h @ h / (1 + square))
    tilt = float(h @ np.abs(c)) / (1 + square)
    v = length / (1 - tilt)
    mu = v**2 / (1 + v**2)
    uneven = max(1 / (1 - tilt) - 1, 1 - 1 / ((1 + v**2) * (1 + tilt)))
    return Cell(c, chart_rotation(face, c), h, motion, 2 * length * uneven + mu, 2 * math.atan(v), mu)


def coordinate_ranges(cell, x):
    """The least and the largest coordinates of R x for the rotations of the cell, by section 7.1."""
    full, length = cell.rotation @ x, float(np.linalg.norm(x))
    sweep = np.abs(np.cross(cell.motion.T, full)).T @ cell.half + cell.remainder * length
    inner = (1 - cell.mu) * full
    low, high = np.empty(3), np.empty(3)
    for k in range(3):
        polar = math.acos(max(-1.0, min(1.0, full[k] / length))) if length > 0 else 0.0
        top = length * math.cos(max(0.0, polar - cell.angle))
        bottom = length * math.cos(min(math.pi, polar + cell.angle))
        if cell.angle >= math.pi / 2:  # the kernel takes the sine of an obtuse angle for 1
            top, bottom = length, -length
        low[k], high[k] = max(bottom, inner[k] - sweep[k]), min(top, inner[k] + sweep[k])
    return low, high


# ---------------------------------------------------------------- votes


def most_votes(packed, cell, low, high, shape, grow):
    """The most votes of a voxel of a grid, every pair against every voxel; boxes are grown by `grow` on all sides."""
    edges = [np.linspace(low[k], high[k], shape[k] + 1) for k in range(3)]
    total = np.zeros(shape, np.int64)
    points = packed.points
    for i in range(points.norm.size):
        least, largest = coordinate_ranges(cell, points.x[:, i])
        for inset in (0.0, points.xi[i] / 2):
            side = points.xi[i] - inset + grow
            start, stop = points.y[:, i] - largest - side, points.y[:, i] - least + side
            meets = [(edges[k][:-1] <= stop[k]) & (edges[k][1:] >= start[k]) for k in range(3)]
            total += packed.votes.ballots[i] * np.einsum("i,j,k->ijk", *meets)
    return int(total.max())


# ---------------------------------------------------------------- slopes


def affine_bound(packed, cell, centre, half, toward):
    """(value, slopes, lone bound, points that matter) of section 8, point by point, without margins for rounding."""
    value, lone, slopes, active = 0.0, 0.0, np.zeros(6), set()
    points = packed.points
    for i in range(points.norm.size):
        x, y, xi, w = points.x[:, i], points.y[:, i] - centre, points.xi[i], points.w[i]
        length = float(np.linalg.norm(x))
        p = (1 - cell.mu) * (cell.rotation @ x)
        z = y - p
        # The change of the residual with each of the six offsets.
        change = -np.concatenate([np.cross(cell.motion.T / (1 - cell.mu), p), np.eye(3)])
        sides = np.concatenate([cell.half, half])
        rest = cell.remainder * length
        reach = np.abs(change).T @ sides + rest
        shell = abs(float(np.linalg.norm(y)) - length) - float(np.linalg.norm(half))
        alone = xi - max(0.0, shell, float(np.maximum(0.0, np.abs(z) - reach).sum()))
        sigma = np.where(z + change.T @ toward >= 0, 1.0, -1.0)
        slope = -change @ sigma
        middle, motion = xi - float(sigma @ z), float(np.abs(slope) @ sides) + math.sqrt(3) * rest
        upper, lower = middle + motion, max(0.0, middle - motion)
        if alone <= 0 or upper <= 0:
            continue
        active.add(i)
        lone += w * min(alone, upper)
        steep = (upper - lower) / (2 * motion)
        chord = (upper + lower) / 2 + steep * math.sqrt(3) * rest
        value += w * min(alone, chord)
        if chord < alone:
            slopes += w * steep * slope
    return value, slopes, lone, active


# ---------------------------------------------------------------- exact


def fractions(array):
    """A nested list of the exact values of floats."""
    return [fractions(row) for row in array] if np.ndim(array) else Fraction(float(array))


def exact_rotation(face, g):
    """The rotation of chart point g, exactly: ((1 − g·g) I + 2 g gᵀ + 2 [g]×) / (1 + g·g), after half a turn."""
    g = [Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(float(value)) for value in g]
    square = sum(value * value for value in g)
    cross = [[0, -g[2], g[1]], [g[2], 0, -g[0]], [-g[1], g[0], 0]]
    signs = [1 if face in (0, k + 1) else -1 for k in range(3)]
    return [
        [((1 - square) * (i == j) + 2 * g[i] * g[j] + 2 * cross[i][j]) / (1 + square) * signs[j] for j in range(3)]
        for i in range(3)
    ]


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def apply(a, v):
    return [sum(a[i][k] * v[k] for k in range(3)) for i in range(3)]


class Exact(NamedTuple):
    """A problem whose poses can be judged exactly, in the coordinates of the floats that were given."""

    x: np.ndarray
    y: np.ndarray
    pairs: Pairs
    packed: Packed
    turn: list[list[Fraction]]
    """The rotation that the incumbent's is a rounded copy of."""

    @classmethod
    def of(cls, x, y, xi, w, g=(0, 0, 0), t=(0.0, 0.0, 0.0)):
        """Packed around the rotation of a rational chart point and a translation (for the framed pairs)."""
        pairs = Pairs.of(x, y, xi, w)
        turn = exact_rotation(0, g)
        packed = pack(pairs, Pose.of([[float(v) for v in row] for row in turn], t))
        rows = slice(None) if pairs.rows is None else pairs.rows  # what was set aside is not searched
        return cls(np.asarray(x, float)[rows], np.asarray(y, float)[rows], pairs, packed, turn)

    def saving(self, face, g, t):
        """Exactly what the pose saves that the search knows as (face, g, t)."""
        packed, frame = self.packed, self.pairs.frame
        rotation = times(exact_rotation(face, g), self.turn)
        mean, shift, unit = fractions(packed.mean), fractions(packed.shift), Fraction(frame.unit)
        inside = [a + b - c for a, b, c in zip(fractions(t), shift, apply(rotation, mean), strict=True)]
        turned = apply(rotation, fractions(frame.source))
        given = [unit * a + b - c for a, b, c in zip(inside, fractions(frame.target), turned, strict=True)]
        total, n = Fraction(0), len(self.x)
        xi, w = np.broadcast_to(self.pairs.xi, n), np.broadcast_to(self.pairs.w, n)
        for i in range(n):
            moved = apply(rotation, fractions(self.x[i]))
            residual = [a - b - c for a, b, c in zip(fractions(self.y[i]), moved, given, strict=True)]
            left = Fraction(float(xi[i])) - sum(abs(value) for value in residual) / unit
            total += Fraction(float(w[i])) * max(Fraction(0), left)
        return total
