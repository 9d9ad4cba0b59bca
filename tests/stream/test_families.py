"""Pieces as voters, and cells in families: nobody who could save anything is left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.tallies import count_votes
from tear3d.prove.pose.nodes import EVERYWHERE, FACE, HIGH, LIST, LOW, VOTES, everywhere, roots
from tear3d.stream.desk import ARENA, Desk
from tear3d.stream.families import WORTH, Family, find_families
from tear3d.stream.look import Look
from tear3d.stream.pieces import Piece
from tear3d.stream.scene import Scene
from tear3d.stream.votes import Gather, Votes
from tear3d.stream.whole import everybody
from tests.prove.pose.cases import KINDS, mixed_pairs, node_of, odd_pairs, poses_in

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))


def scene_of(pairs, loss, seed):
    """A scene around some pose, of one piece; and that piece."""
    rng, (x, y, xi, w) = np.random.default_rng(seed), pairs
    inside, piece = Pairs.of(x, y, xi, w), Piece(0, x, y, np.asarray(xi), np.asarray(w))
    facts = Look(len(x)).begin()
    Look(len(x)).add(facts, 0, piece, lambda: False)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation *= np.linalg.det(rotation)
    pose = Pose(rotation, inside.y[0] - rotation @ inside.x[0]).orthonormal()
    return Scene(inside.frame, pose, loss, everybody(facts, inside, pose, LOSSES[loss])), piece, inside


def cells_around(rng, packed, count):
    """Cells of one face that lie close together, so that they have families."""
    face, home = int(rng.integers(4)), rng.uniform(-0.8, 0.8, 3)
    found = []
    for _ in range(count):
        half = 10.0 ** rng.uniform(-2.5, -1, 3)
        centre = np.clip(home + rng.normal(size=3) * 0.1, half - 1.0, 1.0 - half)
        i = int(rng.integers(packed.size))
        x, y = packed.voters.rows[:3, i].astype(float), packed.voters.rows[3:, i].astype(float)
        t = y - packed.pose(face, centre, np.zeros(3)).rotation @ packed.rotation.T @ x
        reach = 10.0 ** rng.uniform(-2, 0.5, 3) * (packed.ballot.xi + half.max() * packed.ballot.radius)
        low, high = np.maximum(packed.low, t - reach), np.minimum(packed.high, t + reach)
        box = centre - half, centre + half
        found.append(node_of(packed.ceiling, VOTES, face, box, (np.minimum(low, high), high)))
    return np.array(found)


def shares(rng):
    """Any families at all are right."""
    return lambda node: float(rng.uniform(0.0, 1.0) ** 3)


@given(seeds, losses, st.sampled_from(["mixed", *KINDS]))
@settings(max_examples=80, deadline=None)
def test_no_pose_saves_more_than_families_vote(seed, loss, kind):
    rng = np.random.default_rng(seed)
    try:
        given_pairs = mixed_pairs(rng, unequal=True) if kind == "mixed" else odd_pairs(rng, kind)
        scene, piece, inside = scene_of(given_pairs, loss, seed)
    except ValueError:
        return  # pairs on a line
    packed = scene.pack(inside)
    nodes = cells_around(rng, packed, 9)
    family = find_families(nodes, shares(rng))
    work = Votes(scene, nodes, family, bool(rng.integers(2)))
    total = work.add(work.begin(), 0, piece, lambda: False)
    gather = Gather(scene, nodes, family, len(piece.x))
    kept = gather.add(gather.begin(), 0, piece, lambda: False).pairs(scene.frame, len(piece.x))
    for node, votes in zip(nodes, total.votes, strict=True):
        count = count_votes(node[FACE:LIST], 0.0, packed.ballot, votes)
        for pose in poses_in(rng, node, 6):
            there = packed.pose(int(node[FACE]), pose[:3], pose[3:])
            saving = full_saving(inside, there, LOSSES[loss])
            assert saving <= max(count.bound, count.cut) * (1.0 + 1e-12)
            assert full_saving(kept, there, LOSSES[loss]) == pytest.approx(saving, rel=1e-12)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_every_node_is_in_one_family(seed):
    rng = np.random.default_rng(seed)
    nodes = roots(-np.ones(3), np.ones(3), 1.0)[rng.permutation(108)[: int(rng.integers(1, 108))]]
    nodes = np.concatenate([nodes, everywhere(-np.ones(3), np.ones(3), 1.0)[None]])
    seen = []

    def visit(family: Family, top=False):
        members = list(family.nodes)
        for child in family.families:
            members += visit(child)
        seen.extend(family.nodes)
        if not top:
            inside = nodes[members]
            assert (inside[:, FACE] == family.hull[FACE]).all()
            assert family.hull[FACE] != EVERYWHERE
            assert (inside[:, LOW : LOW + 6] >= family.hull[LOW : LOW + 6]).all()
            assert (inside[:, HIGH : HIGH + 6] <= family.hull[HIGH : HIGH + 6]).all()
        return members

    visit(find_families(nodes, shares(rng)), top=True)
    assert sorted(seen) == list(range(len(nodes)))


def test_a_family_must_be_worth_it():
    nodes = roots(-np.ones(3), np.ones(3), 1.0)
    assert find_families(nodes, lambda node: 1.0).families == []
    deep = find_families(nodes, lambda node: WORTH * float(np.prod(node[HIGH : HIGH + 3] - node[LOW : LOW + 3])) / 8.0)
    assert len(deep.families) == 4
    assert deep.families[0].families


@pytest.mark.parametrize("room", [0.0, ARENA])
def test_without_room_all_voters_are_looked_at(room, monkeypatch):
    scene, piece, inside = scene_of(mixed_pairs(np.random.default_rng(1), n=2000), "tear", 1)
    monkeypatch.setattr("tear3d.stream.desk.ARENA", room)
    packed = scene.pack(inside)
    nodes = cells_around(np.random.default_rng(2), packed, 12)
    seated = scene.seat(piece)
    steps = list(Desk().walk(seated, find_families(nodes, lambda node: 1e-9)))
    assert sorted(number for number, _ in steps) == list(range(12))
    sizes = [who[1][1] - who[1][0] for _, who in steps]
    assert all((size == seated.size) == (room == 0.0) for size in sizes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, ">f4", np.float16])
@pytest.mark.parametrize("own", [False, True])
def test_seats_are_those_of_pairs_in_memory(dtype, own):
    rng = np.random.default_rng(3)
    x, y = (100.0 * rng.normal(size=(500, 3))).astype(dtype), (100.0 * rng.normal(size=(500, 3))).astype(dtype)
    xi, w = np.array([0.3]), np.array([2.0])
    if own:
        xi, w = rng.uniform(0.1, 0.5, 500), rng.uniform(0.5, 2.0, 500)
        xi[7], w[9] = 0.0, 0.0
    scene, piece, inside = scene_of((np.asarray(x, float), np.asarray(y, float), xi, w), "tear", 4)
    seated = scene.seat(piece._replace(x=x, y=y))
    usable = inside if not own else inside.take(np.flatnonzero((inside.xi > 0) & (inside.w > 0)))
    packed = scene.pack(usable)
    assert np.array_equal(seated.voters.rows, packed.voters.rows)
    assert np.array_equal(seated.voters.xi, packed.voters.xi)
    assert np.array_equal(seated.voters.ballots, packed.voters.ballots)
    assert seated.ballot[:5] == packed.ballot[:5]
    expected = np.arange(500) if not own else np.delete(np.arange(500), [7, 9])
    assert np.array_equal(seated.rows(np.ones(seated.size, np.uint8)), expected)
