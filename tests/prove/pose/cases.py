"""Problems and boxes of poses for the tests of the whole pose."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tear3d.lab.synthetic import random_rotation
from tear3d.prove.bounds.corners import corner_values
from tear3d.prove.bounds.slopes import Sums, Work, sum_slopes
from tear3d.prove.bounds.votes import make_booth, vote
from tear3d.prove.domains.allowed import charted
from tear3d.prove.domains.rotations import cell_frame
from tear3d.prove.pose.boxes import make_scratch
from tear3d.prove.pose.home import gather_voters, seen_from_home, settle
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, VOTES
from tear3d.prove.pose.zones import Setting, Slacks
from tests import naive
from tests.naive_pose import Exact

KINDS = ["plain", "ties", "duplicates", "all", "none", "three", "far", "tiny", "huge", "bounds", "weights", "lopsided"]


def mixed_pairs(rng, n=60, unequal=False):
    """Some pairs that agree, with noise up to the edge of the noise bound, and others that do not."""
    x = rng.normal(size=(n, 3)) * rng.uniform(0.2, 2.0)
    xi = np.full(n, 0.2) if not unequal else rng.uniform(0.05, 0.4, n)
    w = np.ones(n) if not unequal else rng.uniform(0.1, 3.0, n)
    y = x @ random_rotation(rng).T + rng.uniform(-1, 1, (n, 3)) * 0.2
    y[n // 2 :] = rng.normal(size=(n - n // 2, 3)) * 2.0
    return x, y, xi, w


def odd_pairs(rng, kind):
    """A few pairs of the kind that makes rounding or counting go wrong: (x, y, xi, w)."""
    n = 3 if kind == "three" else int(rng.integers(4, 12))
    x = rng.normal(size=(n, 3))
    if kind == "ties":
        x = np.round(2.0 * x) / 2.0
        x[:3] = np.eye(3)
    if kind == "duplicates":
        x[3:] = x[rng.integers(3, size=n - 3)]
    y = x @ (np.eye(3) if kind in ("ties", "duplicates") else random_rotation(rng)).T
    if kind not in ("ties", "duplicates"):
        y += 0.1 * rng.uniform(-1, 1, (n, 3))
    agree = {"all": n, "three": n, "none": 0}.get(kind, n - n // 3)
    y[agree:] = 2.0 * rng.normal(size=(n - agree, 3))
    xi = np.full(n, 0.2) if kind != "bounds" else 0.5 * 10.0 ** rng.uniform(-4, 0, n)
    w = np.ones(n) if kind != "weights" else 10.0 ** rng.uniform(-3, 3, n)
    if kind == "lopsided":  # a small source whose partners are all over the place: y is what rounding is relative to
        x, y, xi = 1e-5 * x, rng.normal(size=3) + 1e-5 * (y - x) + 1e-5 * x, 1e-4 * xi * 10.0 ** -rng.integers(0, 4, n)
        y[agree:] = rng.normal(size=(n - agree, 3))
    scale = {"tiny": 1e-6, "huge": 1e6}.get(kind, 1.0)
    offset = 1e6 * rng.normal(size=(2, 3)) if kind == "far" else np.zeros((2, 3))
    return scale * x + offset[0], scale * y + offset[1], scale * xi, w


def exact_problem(rng, kind, loss="tear"):
    """Such pairs, packed around a rational rotation."""
    x, y, xi, w = odd_pairs(rng, kind)
    g = [Fraction(int(rng.integers(-40, 41)), 41) for _ in range(3)]
    return Exact.of(x, y, xi, w, g, rng.normal(size=3) * float(np.median(xi)), loss)


def random_box(rng, largest=0.3):
    """(low, high) of g."""
    half = largest * rng.uniform(0.02, 1.0) * rng.uniform(0.3, 1.0, 3)
    centre = rng.uniform(half - 1.0, 1.0 - half) * rng.choice([0.0, 0.3, 1.0])
    return centre - half, centre + half


def node_of(bound, phase, face, g, t):
    """A node from (low, high) of g and of t."""
    return np.array([bound, phase, face, *g[0], *t[0], *g[1], *t[1], 0], float)


def node_around(rng, exact, phase=VOTES):
    """A node of any size that holds a pose at which some pair fits, that pose perhaps on its edge."""
    p, points = exact.packed, points_of(exact.packed)
    face, third = int(rng.integers(4)), np.array([-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0])
    cell = rng.integers(3, size=3)
    low, high = third[cell], third[cell + 1]
    g = rng.uniform(low, high) if rng.uniform() < 0.7 else 0.5 * (low + high)
    i = rng.integers(p.size)
    t = points.y[:, i] - naive.chart_rotation(face, g) @ points.x[:, i]
    t += points.xi[i] * rng.choice([0.0, 0.3, 0.33333]) * rng.uniform(-1, 1, 3)
    reach = (10.0 ** rng.uniform(-14, 0), float(points.norm.max()) * 10.0 ** rng.uniform(-14, 0.3))
    sides = rng.uniform(size=(2, 2, 3)) * rng.choice([0.0, 1.0], (2, 2, 3), p=[0.2, 0.8])
    g_box = np.maximum(low, g - reach[0] * sides[0, 0]), np.minimum(high, g + reach[0] * sides[1, 0])
    t_box = np.maximum(p.low, t - reach[1] * sides[0, 1]), np.minimum(p.high, t + reach[1] * sides[1, 1])
    return node_of(p.ceiling, phase, face, g_box, t_box), np.concatenate([g, t])


def poses_in(rng, node, count, known=None):
    """Poses (g, t) of a node: inside, on its sides and at its corners, and a known one."""
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    if known is not None:
        yield np.clip(known, low, high)
    for k in range(count):
        mix = rng.choice([0.0, 1.0], 6) if k % 3 == 0 else rng.uniform(size=6)
        if known is not None and k % 3 == 1:
            yield np.clip(np.where(mix < 0.5, known, low + mix * (high - low)), low, high)
        else:
            yield np.clip(low + mix * (high - low), low, high)


def frame_of(node, packed=None):
    g_low, g_high = (tuple(node[a : a + 3].tolist()) for a in (LOW, HIGH))
    frame = cell_frame(int(node[FACE]), g_low, g_high)
    return frame if packed is None or packed.allowed is None else charted(frame, packed.allowed.chart)


class Points(NamedTuple):
    """Pairs as packed, in float64: x and y as 3×N."""

    x: np.ndarray
    y: np.ndarray
    norm: np.ndarray
    xi: np.ndarray
    w: np.ndarray


def points_of(packed):
    """The pairs as packed, all of them."""
    pairs, n = packed.pairs, packed.size
    x = packed.rotation @ (pairs.x - packed.mean).T
    y = (pairs.y - packed.shift).T
    return Points(x, y, np.linalg.norm(x, axis=0), np.broadcast_to(pairs.xi, n), np.broadcast_to(pairs.w, n))


def ballots_of(packed):
    """Of the pairs, in the order in which they were given."""
    out = np.empty(packed.size, np.int32)
    out[packed.numbers(packed.voters, (0, packed.size))] = packed.voters.ballots
    return out


def box_of(node):
    """(low, high) of t."""
    return tuple(node[LOW + 3 : LOW + 6].tolist()), tuple(node[HIGH + 3 : HIGH + 6].tolist())


class Convex(NamedTuple):
    """The bound of a box of poses by its corners."""

    bound: float
    values: np.ndarray
    sums: Sums
    middle: np.ndarray
    half: np.ndarray
    active: set
    work: Work
    tangents: tuple
    """How steep they are, and where they touch."""


def gather_voters_of(packed, voters, span, node, home, points):
    """Some voters about the middle of a box as their home, with the weights of their pairs."""
    settle(node, home, packed.allowed)
    w = packed.pairs.w
    return gather_voters(voters, *span, w if len(w) == 1 else w[packed.numbers(voters, span)], home, points)


def convex_of(packed, node, dtype=np.float64, home=None, *, voters=False):
    """The bound of a node, from a home: a node that holds it, or itself; by pairs or by voters."""
    scratch = make_scratch(packed.size, dtype)
    where = node if home is None else home, scratch.home, scratch.points
    if voters:
        stop = gather_voters_of(packed, packed.voters, (0, packed.size), *where)
    else:
        stop = packed.gather(np.arange(packed.size, dtype=np.int32), *where)
    unit = float(np.finfo(dtype).eps) / 2
    eps = packed.single_eps if voters else packed.eps
    frame = frame_of(node, packed)
    box, sides = seen_from_home(node, frame, scratch.home, packed.farthest, eps, unit), frame.half
    sums = sum_slopes(scratch.points, (0, stop), box, packed.ballot.loss, unit, scratch.work)
    active = set(np.flatnonzero(scratch.work.marks[:stop]).tolist())
    bound = corner_values(sums, scratch.work)
    middle = 0.5 * (node[LOW : LOW + 6] + node[HIGH : HIGH + 6])
    values, halves = scratch.work.values.copy(), np.array([*sides, *box.half])
    return Convex(bound, values, sums, middle, halves, active, scratch.work, (box.steep, box.touch))


def tally_of(packed, node, threshold, first=0):
    """The votes on a node, and the boxes of its parts."""
    booth, span = make_booth(groups=len(packed.groups.centres) > 1), (0, packed.size)
    rule = first, float(threshold), packed.ballot, booth
    return vote(packed.voters, packed.groups, span, frame_of(node), box_of(node), *rule), booth.boxes


def left_over(tally, boxes):
    """(low, high) of the boxes of t that votes leave."""
    if tally.parts == 1:
        return [(np.array(tally.low), np.array(tally.high))]
    return [(box[:3], box[3:]) for box in boxes[: tally.parts]]


def holds(left, t):
    return any(np.all(low <= t) and np.all(t <= high) for low, high in left)


def setting_of(packed, slack, share=1.0, far_slack=0.02, zone=0.0, dtype=np.float64):
    """What a search of boxes has to know; nothing is near when the zone is 0."""
    b = packed.ballot
    sizes = packed.farthest, zone, 1.1 * zone, packed.tips
    unit = float(np.finfo(dtype).eps) / 2
    return Setting(b.xi, b.radius, packed.eps, unit, Slacks(slack, share, far_slack), b.loss, *sizes)
