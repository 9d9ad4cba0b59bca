"""Slow, obvious twins of the fast kernels: what they compute, with no thought of how."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

# ---------------------------------------------------------------- problem.losses, bounds.sweep


def ranked(values, rank):
    """The value that comes `rank`-th."""
    return sorted(values)[rank]


def saving_of(distance, xi, loss):
    """What one point saves at this distance, in whatever number type is passed."""
    if distance > xi:
        return 0 * xi
    if loss == "tear":
        return xi - distance
    return 1 + 0 * xi if loss == "cm" else xi * xi - distance * distance


def interval_saving(lo, hi, xi, w, t, loss):
    """Σ w·s(distance from t to [lo, hi])."""
    distances = [max(a - t, t - b, 0 * t) for a, b in zip(lo, hi, strict=True)]
    return sum(wi * saving_of(d, x, loss) for d, x, wi in zip(distances, xi, w, strict=True))


def max_saving(lo, hi, xi, w, loss):
    """The exact maximum over t, in rational arithmetic, O(N²): (saving, t)."""
    lo, hi, xi, w = ([Fraction(float(v)) for v in values] for values in (lo, hi, xi, w))
    corners = {a - x for a, x in zip(lo, xi, strict=True)} | {b + x for b, x in zip(hi, xi, strict=True)}
    corners = sorted(corners | set(lo) | set(hi))
    candidates = list(corners)
    if loss == "tls":
        for left, right in pairwise(corners):
            middle = (left + right) / 2
            feet = [
                (wi, a if middle < a else b)
                for a, b, x, wi in zip(lo, hi, xi, w, strict=True)
                if (a - x < middle < a) or (b < middle < b + x)
            ]
            mass = sum(wi for wi, _ in feet)
            if mass > 0:
                candidates.append(min(max(sum(wi * f for wi, f in feet) / mass, left), right))
    return max((interval_saving(lo, hi, xi, w, t, loss), t) for t in candidates)


# ---------------------------------------------------------------- domains.sphere, domains.circle


def rectangle_directions(a1, a2, b1, b2, n):
    """n² directions of an (α, β) rectangle, its corners included."""
    alpha, beta = np.meshgrid(np.linspace(a1, a2, n), np.linspace(b1, b2, n))
    parts = (np.sin(beta) * np.cos(alpha), np.sin(beta) * np.sin(alpha), np.cos(beta))
    return np.stack(parts, axis=-1).reshape(-1, 3)


def cube_directions(face, level, i, j, n):
    """n² directions of a cube-map cell, its corners included."""
    side = 2**level
    a = np.tan(np.pi / 4 * (2 * np.linspace(i, i + 1, n) / side - 1))
    b = np.tan(np.pi / 4 * (2 * np.linspace(j, j + 1, n) / side - 1))
    a, b = np.meshgrid(a, b)
    axis, sign = face // 2, 1 - 2 * (face % 2)
    out = np.empty((n, n, 3))
    out[..., axis], out[..., (axis + 1) % 3], out[..., (axis + 2) % 3] = sign, a, b
    return (out / np.linalg.norm(out, axis=-1, keepdims=True)).reshape(-1, 3)


def arc_directions(u, v, a1, a2, n):
    a = np.linspace(a1, a2, n)[:, None]
    return np.cos(a) * u + np.sin(a) * v


# ---------------------------------------------------------------- bounds.ranges


def ranges(x, directions):
    """Smallest and largest r·x_i over the listed directions."""
    products = x @ directions.T
    return products.min(axis=1), products.max(axis=1)


# ---------------------------------------------------------------- row


def row_saving(x, y, xi, w, r, t, loss):
    """Σ w·s(y − r·x − t)."""
    z = np.abs(y - x @ r - t)
    shape = {"tear": xi - z, "cm": np.ones_like(z), "tls": xi**2 - z**2}[loss]
    return float(np.sum(w * np.where(z <= xi, shape, 0.0)))


def best_row_shift(x, y, xi, w, r, loss):
    """(saving, t) for one direction, trying the b_i (and for CM and TLS a fine grid around them)."""
    b = y - x @ r
    t = b[:, None] + np.linspace(-1, 1, 1 if loss == "tear" else 41)[None, :] * xi[:, None]
    t = (b if loss == "tear" else t).reshape(-1)
    z = np.abs(b[:, None] - t[None, :])
    shape = {"tear": xi[:, None] - z, "cm": np.ones_like(z), "tls": xi[:, None] ** 2 - z**2}[loss]
    savings = np.sum(w[:, None] * np.where(z <= xi[:, None], shape, 0.0), axis=0)
    k = int(np.argmax(savings))
    return float(savings[k]), float(t[k])


def best_row(x, y, xi, w, loss, directions, project=lambda r: r, seed=0):
    """The best (saving, r, t) over listed directions, the best few refined by shrinking random steps."""
    ranked = sorted(directions, key=lambda r: -best_row_shift(x, y, xi, w, r, loss)[0])[:6]
    rng, best = np.random.default_rng(seed), (-math.inf, None, math.nan)
    for r in ranked:
        saving, t = best_row_shift(x, y, xi, w, r, loss)
        step = 0.2
        for _ in range(200):
            trial = project(r + step * rng.normal(size=3))
            trial = trial / np.linalg.norm(trial)
            new_saving, new_t = best_row_shift(x, y, xi, w, trial, loss)
            if new_saving > saving:
                saving, r, t = new_saving, trial, new_t
            else:
                step *= 0.96
        best = max(best, (saving, r, t), key=lambda item: item[0])
    return best


# ---------------------------------------------------------------- bounds.first_order


def first_order_bound(x, y, xi, w, cell, t, half):
    """The bound at one node t that stands for all shifts within `half` of it, point by point."""
    c, e1, e2 = np.array(cell.c), np.array(cell.e1), np.array(cell.e2)
    total, turn = 0.0, np.zeros(4)
    for xi_, w_, x_, y_ in zip(xi, w, x, y, strict=True):
        q, p1, p2 = float(c @ x_), float(e1 @ x_), float(e2 @ x_)
        z = y_ - cell.kappa0 * q - t
        reach = cell.h1 * abs(p1) + cell.h2 * abs(p2) + cell.eta * abs(q) + half
        if reach >= xi_:
            total += w_ * min(xi_, max(0.0, xi_ + reach - abs(z)))
            continue
        total += w_ * (max(0.0, xi_ - abs(z)) + max(0.0, reach - abs(abs(z) - xi_)))
        if abs(z) < xi_:
            turn += w_ * math.copysign(1.0, z) * np.array([1.0, p1, p2, q])
    return total + float(np.abs(turn) @ np.array([half, cell.h1, cell.h2, cell.eta]))


# ---------------------------------------------------------------- bounds.windows


def window_bound(x, y, xi, cell, grid, t, beta):
    """The bound at one node t: 2^levels groups a side, each at the node that suits it, from the top down.

    `grid` is (levels, extent, inside): `inside` is how far a point may deviate from its group; ξ is common and all
    weights are 1.
    """
    levels, extent, inside = grid
    p = np.column_stack([x @ np.array(cell.e1), x @ np.array(cell.e2)])
    h, q, b = np.array([cell.h1, cell.h2]), x @ np.array(cell.c), y - cell.kappa0 * (x @ np.array(cell.c))

    def leaf(index, centre, node, rest):
        z = b[index] - node
        reach = math.ceil((inside + rest + 0.5 * beta) / beta) * beta
        own = np.maximum(0.0, xi - np.abs(z))
        own += np.maximum(0.0, reach - np.abs(z - xi)) + np.maximum(0.0, reach - np.abs(z + xi))
        sign = np.where(np.abs(z) < xi, np.sign(z), 0.0)
        turn = h @ np.abs(sign @ (p[index] - centre)) + cell.eta * abs(sign @ q[index])
        return float(own.sum() + turn + (0.5 * beta + rest) * abs(sign.sum()))

    def group(index, centre, half, level, node, rest):
        if not len(index):
            return 0.0
        if level == levels:
            return leaf(index, centre, node, rest)
        shift = rest + float(h.sum()) * 0.5 * half
        width = int(shift / beta + 0.5)
        total = 0.0
        for right in (False, True):
            for up in (False, True):
                own = index[((p[index, 0] >= centre[0]) == right) & ((p[index, 1] >= centre[1]) == up)]
                middle = centre + 0.5 * half * np.array([1.0 if right else -1.0, 1.0 if up else -1.0])
                left = max(0.0, shift - width * beta)
                places = node + beta * np.arange(-width, width + 1)
                total += max(group(own, middle, 0.5 * half, level + 1, place, left) for place in places)
        return total

    return group(np.arange(len(y)), np.zeros(2), extent, 0, t, 0.0)


# ---------------------------------------------------------------- pose


def chart_rotation(face, g):
    """The rotation of the quaternion (1, g), after half a turn about axis `face` − 1."""
    q = np.array([1.0, *g]) / math.sqrt(1.0 + float(np.dot(g, g)))
    a, (b, c, d) = q[0], q[1:]
    matrix = np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
        ]
    )
    half_turns = [np.diag(signs) for signs in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]
    return matrix @ half_turns[face]


def chart_point(rotation):
    """Face and g of a rotation."""
    found = []
    for face, signs in enumerate(((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))):
        x, y, z, w = Rotation.from_matrix(rotation @ np.diag(signs)).as_quat()
        if abs(w) > 1e-9:
            found.append((np.abs([x / w, y / w, z / w]).max(), face, np.array([x, y, z]) / w))
    return min(found, key=lambda item: item[0])[1:]


def full_saving(x, y, xi, w, rotation, t):
    """Σ w·max(0, ξ − ‖y − R x − t‖₁)."""
    return float(np.sum(w * np.maximum(0.0, xi - np.abs(y - x @ rotation.T - t).sum(axis=1))))


def best_pose(x, y, xi, w, seed=0, starts=400):
    """The best saving over random rotations and translations through some pair, the best few refined at random."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(starts):
        q = rng.normal(size=3)
        rotation = chart_rotation(int(rng.integers(4)), q / max(1.0, np.abs(q).max()))
        for t in y - x @ rotation.T:
            found.append((full_saving(x, y, xi, w, rotation, t), rotation, t))
    found.sort(key=lambda item: -item[0])
    best = found[0]
    size, turn = float(np.median(xi)), float(np.median(xi)) / max(1e-9, float(np.abs(x - x.mean(axis=0)).max()))
    for saving, rotation, t in found[:12]:
        step = 1.0
        while step > 1e-3:
            r = chart_rotation(0, 0.5 * step * turn * rng.normal(size=3)) @ rotation
            # Turn about the middle of the points, so that turning and moving do not fight each other.
            s = t + (rotation - r) @ x.mean(axis=0) + step * size * rng.normal(size=3)
            value = full_saving(x, y, xi, w, r, s)
            if value > saving:
                saving, rotation, t = value, r, s
            else:
                step *= 0.98
        best = max(best, (saving, rotation, t), key=lambda item: item[0])
    return best
