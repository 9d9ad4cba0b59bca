"""Votes of pairs in pieces: the sum of the pieces, and bounds of every pose of a cell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.tallies import ROOM, cast_votes, count_votes, mark_voters
from tear3d.prove.bounds.voters import make_block
from tear3d.prove.bounds.votes import make_booth
from tear3d.prove.pose.nodes import FACE, LIST, VOTES, everywhere
from tear3d.prove.pose.points import pack
from tear3d.stream.look import Look
from tear3d.stream.pieces import Piece
from tear3d.stream.shares import VOTE_BYTES
from tear3d.stream.whole import everybody
from tests.prove.pose.cases import KINDS, mixed_pairs, node_of, odd_pairs, poses_in

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))


class Parted:
    """Pairs in three pieces, each packed like all."""

    def __init__(self, rng, pairs, loss):
        x, y, xi, w = pairs
        self.pairs, self.loss = Pairs.of(x, y, xi, w), LOSSES[loss]
        look, n = Look(len(x)), len(x)
        edges = [0, *sorted(rng.integers(1, n, 2).tolist()), n]
        facts = look.begin()
        parts = []
        for number, (a, b) in enumerate(pairwise(edges)):
            if a < b:
                piece = Piece(a, x[a:b], y[a:b], xi[a:b], w[a:b])
                look.add(facts, number, piece, lambda: False)
                parts.append(piece.inside(self.pairs.frame))
        i = int(rng.integers(len(self.pairs)))
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        rotation *= np.linalg.det(rotation)
        pose = Pose(rotation, self.pairs.y[i] - rotation @ self.pairs.x[i]).orthonormal()
        all_of_them = everybody(facts, self.pairs, pose, self.loss)
        self.packed = [pack(part, self.loss, pose, all_of_them) for part in parts]

    def cell(self, rng):
        """A cell of any size around a pose at which some pair fits."""
        p = self.packed[int(rng.integers(len(self.packed)))]
        half = 10.0 ** rng.uniform(-3, 0, 3) / 3.0
        centre = rng.uniform(half - 1.0, 1.0 - half)
        x, y = p.voters.rows[:3, 0].astype(float), p.voters.rows[3:, 0].astype(float)
        face = int(rng.integers(4))
        t = y - p.pose(face, centre, np.zeros(3)).rotation @ p.rotation.T @ x
        reach = 10.0 ** rng.uniform(-2, 1, 3) * (p.ballot.xi + half.max() * p.ballot.radius)
        low, high = np.maximum(p.low, t - reach), np.minimum(p.high, t + reach)
        return node_of(p.ceiling, VOTES, face, (centre - half, centre + half), (np.minimum(low, high), high))

    def votes(self, node, sharp):
        total, booth = np.zeros(ROOM, np.int32), make_booth()
        for p in self.packed:
            count = cast_votes(p.voters, (0, p.size), node[FACE:LIST], sharp, p.ballot, booth)
            total[:count] += booth.grid[:count]
        return total

    def saving(self, node, pose):
        return full_saving(self.pairs, self.packed[0].pose(int(node[FACE]), pose[:3], pose[3:]), self.loss)


def problem(rng, kind):
    return mixed_pairs(rng, unequal=True) if kind == "mixed" else odd_pairs(rng, kind)


@given(seeds, losses, st.booleans(), st.sampled_from(["mixed", *KINDS]))
@settings(max_examples=150, deadline=None)
def test_no_pose_saves_more_than_its_pieces_vote(seed, loss, sharp, kind):
    rng = np.random.default_rng(seed)
    try:
        parted = Parted(rng, problem(rng, kind), loss)
    except ValueError:
        return  # pairs on a line
    node, ballot = parted.cell(rng), parted.packed[0].ballot
    votes = parted.votes(node, sharp)
    threshold = float(rng.uniform(0.0, 0.5)) * parted.packed[0].ceiling
    count = count_votes(node[FACE:LIST], threshold, ballot, votes)
    low, high = np.array(count.low), np.array(count.high)
    for pose in poses_in(rng, node, 12):
        saving, t = parted.saving(node, pose), pose[3:]
        left = count.bound > 0.0 and bool(np.all((low <= t) & (t <= high)))
        assert saving <= (max(count.bound, count.cut) if left else count.cut) * (1.0 + 1e-12)


@given(seeds, losses, st.sampled_from(["mixed", *KINDS]))
@settings(max_examples=100, deadline=None)
def test_who_is_not_marked_saves_nothing(seed, loss, kind):
    rng = np.random.default_rng(seed)
    try:
        parted = Parted(rng, problem(rng, kind), loss)
    except ValueError:
        return
    node = parted.cell(rng)
    for p in parted.packed:
        mask = np.zeros(p.size, np.uint8)
        mark_voters(p.voters, (0, p.size), node[FACE:LIST], p.ballot.margin, make_block(), mask)
        rest = p.pairs.take(p.numbers(p.voters, (0, p.size))[mask == 0].astype(np.int64))
        for pose in poses_in(rng, node, 6):
            there = p.pose(int(node[FACE]), pose[:3], pose[3:])
            assert len(rest) == 0 or full_saving(rest, there, parted.loss) == 0.0


@given(seeds, losses)
@settings(max_examples=30, deadline=None)
def test_all_rotations_at_once(seed, loss):
    rng = np.random.default_rng(seed)
    parted = Parted(rng, mixed_pairs(rng), loss)
    p = parted.packed[0]
    node = everywhere(p.low, p.high, p.ceiling)
    count = count_votes(node[FACE:LIST], 0.0, p.ballot, parted.votes(node, False))
    for _ in range(20):
        g, i = rng.uniform(-1, 1, 3), int(rng.integers(p.size))
        pose = p.pose(int(rng.integers(4)), g, np.zeros(3))
        x, y = p.pairs.x[i], p.pairs.y[i]
        assert full_saving(parted.pairs, Pose(pose.rotation, y - pose.rotation @ x), parted.loss) <= count.bound


def test_what_a_grid_takes():
    assert 4 * ROOM == VOTE_BYTES
