"""Slow, obvious twins of the bounds for the whole pose, and exact rational savings to hold them against."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tear3d.problem.losses import LOSSES
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
    stretch: float
    bend: float


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
    rest, angle = 2 * length * uneven + mu, 2 * math.atan(v)
    return Cell(c, chart_rotation(face, c), h, motion, rest, angle, mu, 1 / (1 - tilt), mu)


def coordinate_ranges(cell, x, *, capped):
    """The least and the largest coordinates of R x for the rotations of the cell, by section 7.1."""
    full, length = cell.rotation @ x, float(np.linalg.norm(x))
    sweep = cell.stretch * (np.abs(np.cross(cell.motion.T, full)).T @ cell.half) + cell.bend * length
    low, high = (1 - cell.mu) * full - sweep, (1 - cell.mu) * full + sweep
    for k in range(3) if capped else ():
        polar = math.acos(max(-1.0, min(1.0, full[k] / length))) if length > 0 else 0.0
        top = length * math.cos(max(0.0, polar - cell.angle))
        bottom = length * math.cos(min(math.pi, polar + cell.angle))
        if cell.angle >= math.pi / 2:  # the kernel takes the sine of an obtuse angle for 1
            top, bottom = length, -length
        low[k], high[k] = max(bottom, low[k]), min(top, high[k])
    return low, high


# ---------------------------------------------------------------- votes


def place_boxes(points, cell, *, capped):
    """The least and the largest y − R x of every pair, as rows."""
    ranges = [coordinate_ranges(cell, x, capped=capped) for x in points.x.T]
    return points.y.T - np.array([high for _, high in ranges]), points.y.T - np.array([low for low, _ in ranges])


def voxel_edges(grid):
    return [np.array([grid.low[k] + j * grid.size[k] for j in range(grid.shape[k] + 1)]) for k in range(3)]


def plain_votes(points, ballots, cell, grid, quarters, *, capped, grow):
    """The votes of every voxel, every pair against every voxel; boxes are grown by `grow` on all sides."""
    edges, total = voxel_edges(grid), np.zeros(grid.shape, np.int64)
    lows, highs = place_boxes(points, cell, capped=capped)
    for i in range(points.norm.size):
        outer = -(-int(ballots[i]) * quarters // 4)
        for part, votes in ((1.0, outer), (0.5, int(ballots[i]) - outer)):
            start, stop = lows[i] - part * points.xi[i] - grow, highs[i] + part * points.xi[i] + grow
            meets = [(edges[k][:-1] <= stop[k]) & (edges[k][1:] >= start[k]) for k in range(3)]
            total += votes * np.einsum("i,j,k->ijk", *meets)
    return total


def left_of_cap(points, i, distances, loss):
    """The share of its cap that a pair saves whose residual is at least so far from zero, coordinate by coordinate."""
    xi = points.xi[i]
    if loss == "tear":
        return np.maximum(0.0, 1.0 - sum(distances) / xi)
    squares = sum(d**2 for d in distances) / xi**2
    return (squares <= 1.0).astype(float) if loss == "cm" else np.maximum(0.0, 1.0 - squares)


def can_save(points, cell, low, high, grow):
    """Which pairs a box of t leaves a chance, coordinate by coordinate."""
    lows, highs = place_boxes(points, cell, capped=False)
    reach = points.xi[:, None] + grow
    return np.all((highs + reach >= low) & (lows - reach <= high), axis=1)


def hull(votes, threshold):
    """(most, below, first, last) of the voxels that beat a threshold and of the others."""
    beats = np.argwhere(votes > threshold)
    below = max(0, int(np.max(votes[votes <= threshold], initial=0)))
    if not len(beats):
        return 0, below, votes.shape, (-1, -1, -1)
    return int(votes.max()), below, tuple(beats.min(axis=0).tolist()), tuple(beats.max(axis=0).tolist())


def widest_gap(places):
    """(axis, last slab before, first behind) of the widest gap between slabs that hold any; None without a gap."""
    gaps = [
        (behind - before - 1, axis, before, behind)
        for axis in range(3)
        for before, behind in itertools.pairwise(np.unique(places[:, axis]).tolist())
    ]
    widest = max(gaps, key=lambda gap: gap[0], default=(0,))  # the first of several
    return widest[1:] if widest[0] > 0 else None


def parts_of(votes, threshold, most):
    """The places of the voxels that beat a threshold, cut apart at their widest gaps into so many parts at most."""
    parts, at = [np.argwhere(votes > threshold)], 0
    while at < len(parts):
        gap = widest_gap(parts[at])
        if gap is None or len(parts) == most:
            at += 1
            continue
        axis, before, behind = gap
        parts.append(parts[at][parts[at][:, axis] >= behind])
        parts[at] = parts[at][parts[at][:, axis] <= before]
    return parts


# ---------------------------------------------------------------- slopes


def pose_saving(points, rotation, t, loss):
    """What every pair saves at a pose, by the definition."""
    r = np.abs(points.y.T - points.x.T @ rotation.T - t)
    square = np.sum(r**2, axis=1)
    if loss == "tear":
        return points.w * np.maximum(0.0, points.xi - r.sum(axis=1))
    if loss == "tls":
        return points.w * np.maximum(0.0, points.xi**2 - square)
    return points.w * (square <= points.xi**2)


def convex_bound(points, cell, box, loss, steep=1.5, touch=(0.0,) * 6):
    """(values at the corners, lone bound, points that matter) of section 8, point by point, without margins for
    rounding; corners in the order of `itertools.product`. Tangents touch at a place of the box, in half sides."""
    centre, half = box
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
    values, lone, active = np.zeros(len(corners)), 0.0, set()
    for i in range(points.norm.size):
        x, y, xi, w = points.x[:, i], points.y[:, i] - centre, points.xi[i], points.w[i]
        p = (1 - cell.mu) * (cell.rotation @ x)
        z = y - p
        # The change of the residual with each of the six offsets, as far as they go.
        sides = np.concatenate([cell.half, half])
        change = -sides[:, None] * np.concatenate([np.cross(cell.motion.T / (1 - cell.mu), p), np.eye(3)])
        rest = cell.remainder * float(np.linalg.norm(x))
        off = np.abs(change).sum(axis=0) + rest
        least, there = np.maximum(0.0, np.abs(z) - off), z + touch @ change
        if loss == "tear":
            with np.errstate(invalid="ignore", divide="ignore"):
                tangent = np.where(off > 0, np.clip(steep * there / off, -1.0, 1.0), np.sign(z))
            middle, alone = xi - float(tangent @ z), xi - float(least.sum())
        else:
            tangent = 2 * there
            middle, alone = xi**2 + float(there @ (there - 2 * z)), xi**2 - float(least @ least)
        middle += float(np.linalg.norm(tangent)) * rest
        slope = -change @ tangent
        upper = middle + float(np.abs(slope).sum())
        if alone < 0 or (alone == 0 and loss != "cm") or (upper <= 0 and loss != "cm"):
            continue
        active.add(i)
        if loss == "cm":
            values, lone = values + w, lone + w
            continue
        lone += w * min(alone, upper)
        values += w * np.maximum(0.0, middle + corners @ slope)
    return values, lone, active


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
    loss: str

    @classmethod
    def of(cls, x, y, xi, w, g=(0, 0, 0), t=(0.0, 0.0, 0.0), loss="tear"):
        """Packed around the rotation of a rational chart point and a translation (for the framed pairs)."""
        pairs = Pairs.of(x, y, xi, w)
        turn = exact_rotation(0, g)
        packed = pack(pairs, LOSSES[loss], Pose.of([[float(v) for v in row] for row in turn], t))
        rows = slice(None) if pairs.rows is None else pairs.rows  # what was set aside is not searched
        return cls(np.asarray(x, float)[rows], np.asarray(y, float)[rows], pairs, packed, turn, loss)

    def saving(self, face, g, t):
        """Exactly what the pose saves that the search knows as (face, g, t)."""
        return sum(self.savings(face, g, t))

    def savings(self, face, g, t):
        """The same, pair by pair."""
        packed, frame = self.packed, self.pairs.frame
        rotation = times(exact_rotation(face, g), self.turn)
        mean, shift, unit = fractions(packed.mean), fractions(packed.shift), Fraction(frame.unit)
        inside = [a + b - c for a, b, c in zip(fractions(t), shift, apply(rotation, mean), strict=True)]
        turned = apply(rotation, fractions(frame.source))
        given = [unit * a + b - c for a, b, c in zip(inside, fractions(frame.target), turned, strict=True)]
        n = len(self.x)
        xi, w = np.broadcast_to(self.pairs.xi, n), np.broadcast_to(self.pairs.w, n)
        return [Fraction(float(w[i])) * self._saves(i, rotation, given, unit, Fraction(float(xi[i]))) for i in range(n)]

    def _saves(self, i, rotation, given, unit, xi):
        moved = apply(rotation, fractions(self.x[i]))
        residual = [(a - b - c) / unit for a, b, c in zip(fractions(self.y[i]), moved, given, strict=True)]
        if self.loss == "tear":
            return max(Fraction(0), xi - sum(abs(value) for value in residual))
        left = xi * xi - sum(value * value for value in residual)
        return Fraction(left >= 0) if self.loss == "cm" else max(Fraction(0), left)
