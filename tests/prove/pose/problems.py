"""Random problems of all kinds, and a hard search for poses that a proof says are not there."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np

from tear3d.errors import InputError
from tear3d.find.ascent import climb
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.frame import Frame
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES, Loss
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove import whole
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.pose import stage as module
from tear3d.prove.pose.stage import ELSEWHERE, usable
from tests.naive import chart_rotation
from tests.prove.pose.grouping import grouped, groups_matter, looking_for_parts, some_choices
from tests.prove.pose.hubbing import small_hubs
from tests.prove.pose.sifting import SMALL, lost, small_sieves

SHAPES = ["cloud", "cloud", "ties", "duplicates", "plane", "plane", "line", "cube"]
LIMITS = [300, 10_000, 50_000, 50_000]
"""Cells after which a proof is stopped; many are finished by then."""

SHARES = [(0.3, 10**15), (0.8, 10**15), (0.8, 0)]
"""Which share of what can be saved elsewhere is of interest, and for how long: free choices of the stage, part of no
bound, ..."""
RIMS = [0.0, 1.3]
ALIVE = [0.05, 0.5, np.inf]
SINGLE_GAPS = [0.0, 0.0, np.inf]
LITTLE = [-1.0, np.inf]
"""... as are what a sift is worth, from which gap on boxes are bounded in single precision, and whether poses are
looked for about one pair after the other."""


class Case(NamedTuple):
    """A problem, and what is to be done with it."""

    seed: int
    pairs: Pairs
    loss: Loss
    start: Pose
    truths: list[Pose]
    """Motions that some pairs follow."""
    gap: float
    limit: int
    told: str


def bare(x, y, xi, w=1.0):
    """Pairs without checks, for what `Pairs.of` would refuse."""
    zero = np.zeros(3)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)  # as kernels want them
    return Pairs(x, y, np.atleast_1d(xi), np.atleast_1d(w), Frame(zero, zero), zero, zero)


def shape_of(rng, kind, n):
    """Points that make rounding or counting go wrong, of a size about 1."""
    x = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-0.7, 0.3)
    if kind == "ties":
        x = np.round(2.0 * x) / 2.0
    elif kind == "duplicates":
        x[n // 3 :] = x[rng.integers(max(1, n // 3), size=n - n // 3)]
    elif kind == "plane":
        x[:, 2] = 0.0
        x = x @ random_rotation(rng).T
    elif kind == "line":
        x = np.outer(x[:, 0], random_rotation(rng)[0])
    elif kind == "cube":
        x = np.sign(x)
    return x


def small_turn(rng, size):
    return chart_rotation(0, size * rng.normal(size=3))


def make_case(seed: int) -> Case:
    """One of the problems."""
    rng = np.random.default_rng(seed)
    kind, loss = str(rng.choice(SHAPES)), str(rng.choice(list(LOSSES)))
    n = int(rng.integers(4, 70) if rng.uniform() < 0.7 else rng.integers(70, 250))
    x = shape_of(rng, kind, n)
    level = 10.0 ** rng.uniform(-2.5, -0.7)
    xi = level * (10.0 ** rng.uniform(-2.0, 2.0, n) if rng.uniform() < 0.2 else np.ones(n))
    w = 10.0 ** rng.uniform(-2.0, 2.0, n) if rng.uniform() < 0.2 else np.ones(1)
    truths = [Pose(random_rotation(rng), rng.normal(size=3)) for _ in range(2)]
    if kind in ("ties", "cube") and rng.uniform() < 0.5:
        truths[0] = Pose.identity()
    rival = str(rng.choice(["none", "equal", "close", "shifted"]))
    if rival == "close":  # a few noise bounds away: the edge of what is elsewhere
        away = level * rng.uniform(0.5, 6.0)
        turn = small_turn(rng, 0.5 * away * rng.choice([0.0, 1.0]))
        truths[1] = Pose(turn, away * rng.normal(size=3)).after(truths[0])
    if rival == "shifted":  # cells around both are taken apart
        truths[1] = Pose(np.eye(3), 2.0 * rng.normal(size=3)).after(truths[0])
    y = 3.0 * rng.normal(size=(n, 3))
    follow = int(n * rng.choice([0.15, 0.4, 0.8, 1.0]))
    split = follow if rival == "none" else follow // 2
    y[:split], y[split:follow] = truths[0].apply(x[:split]), truths[1].apply(x[split:follow])
    noise = float(rng.choice([0.0, 0.3, 0.9]))
    y[:follow] += noise * np.minimum(xi, 10.0 * level)[:follow, None] * rng.uniform(-0.6, 0.6, (follow, 3))
    if rng.uniform() < 0.15:  # typical is then what no pair that agrees has
        xi[follow:] *= 10.0 ** rng.uniform(-2.0, 0.0)
    scale = 10.0 ** rng.uniform(-6.0, 6.0) if rng.uniform() < 0.3 else 1.0
    offset = 1e6 * level * rng.normal(size=(2, 3)) if rng.uniform() < 0.2 else np.zeros((2, 3))
    x, y, xi = scale * (x + offset[0]), scale * (y + offset[1]), scale * xi
    pairs = _checked(x, y, xi, w)
    shifts = (scale * (t.translation + offset[1] - t.rotation @ offset[0]) for t in truths)
    known = [pairs.frame.inside(Pose(t.rotation, s)) for t, s in zip(truths, shifts, strict=True)]
    start, name = _start(rng, pairs, LOSSES[loss], known)
    told = f"{kind} n={n} {loss} rival={rival} noise={noise} scale={scale:.1e} xi={xi.min():.1e}..{xi.max():.1e} {name}"
    return Case(
        seed, pairs, LOSSES[loss], start, known, float(rng.choice([0.01, 0.05, 0.2])), int(rng.choice(LIMITS)), told
    )


def _checked(x, y, xi, w):
    try:
        return Pairs.of(x, y, xi, w)
    except InputError:  # lines, points that coincide: refused by the library, no reason to prove less
        source, target = x.mean(axis=0), y.mean(axis=0)
        n = len(x)
        pairs = bare(x - source, y - target, np.broadcast_to(xi, n), np.broadcast_to(w, n))
        return replace(pairs, frame=Frame(source, target))


def _start(rng, pairs, loss, known):
    """Where the proof starts: mostly a very good pose, sometimes one that will be improved."""
    name = str(rng.choice(["best", "best", "climbed", "moved", "any"]))
    if name == "best":
        found = [climb(pairs, pose, loss) for pose in (*known, *guesses(rng, pairs, 10))]
        return max(found, key=lambda item: item[1])[0], name
    if name == "any":
        return next(guesses(rng, pairs, 1)), name
    pose = climb(pairs, known[0], loss)[0]
    return (moved(rng, pairs, pose, rng.uniform(0.0, 3.0)) if name == "moved" else pose), name


def guesses(rng, pairs, count):
    """Poses through one pair, and those of three pairs."""
    n = len(pairs)
    for k in range(count):
        i = rng.integers(n, size=3)
        rotation = random_rotation(rng)
        if k % 2:
            a, b = pairs.x[i] - pairs.x[i].mean(axis=0), pairs.y[i] - pairs.y[i].mean(axis=0)
            u, _, vt = np.linalg.svd(b.T @ a)
            rotation = (u * [1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
        else:
            i = i[:1]
        yield Pose(rotation, (pairs.y[i] - pairs.x[i] @ rotation.T).mean(axis=0))


def displacement(pairs, one, other):
    """How far apart two poses put a source point, at most."""
    return float(np.linalg.norm(one.apply(pairs.x) - other.apply(pairs.x), axis=1).max())


def moved(rng, pairs, pose, bounds):
    """A pose that moves some point by so many typical noise bounds from where this one puts it."""
    wanted = bounds * float(np.median(pairs.xi))
    mean, mix = pairs.x.mean(axis=0), rng.choice([0.0, 0.5, 1.0])
    size = float(np.linalg.norm(pairs.x - mean, axis=1).max())
    turn = mix * rng.normal(size=3) / max(size, wanted, 1e-300)
    shift = (1.0 - mix) * rng.normal(size=3)

    def at(step):
        rotation = chart_rotation(0, 0.5 * step * turn) @ pose.rotation
        return Pose(rotation, pose.translation + (pose.rotation - rotation) @ mean + step * shift)

    step = wanted
    for _ in range(6):
        step *= wanted / max(displacement(pairs, pose, at(step)), 1e-3 * wanted)
    return at(step)


# ---------------------------------------------------------------- what a proof says, and what there is


class Verdict(NamedTuple):
    """What was proven, and what was found against it."""

    certificate: StageCertificate
    saving: float
    """The most that any pose tried saves, ..."""
    elsewhere: float
    """... and the most of those elsewhere."""
    wrong: list[str]
    left: tuple[int, int]
    """How many pairs lengths left for the proof, and of how many."""
    grouped: bool
    """Whether groups of pairs voted apart, and not in vain, ..."""
    copied: bool
    """... whether voters were copied between two grids of a cell, ..."""
    apart: bool
    """... whether a cell was seen to be taken apart, ..."""
    about: bool
    """... and whether poses were looked for about one pair after the other."""


def examine(case: Case, *, tries: int = 60) -> Verdict:
    """Prove, then look for a pose that the proof excludes, or that a pair left out agrees with."""
    share, sure = SHARES[case.seed % len(SHARES)]
    rng = np.random.default_rng([case.seed, 1])
    start, cloud = Scored(case.start, full_saving(case.pairs, case.start, case.loss)), usable(case.pairs)
    options = Options.of(rel_gap=case.gap, loss=case.loss.name, threads=1)
    other = np.random.default_rng([case.seed, 2])
    with (
        grouped(some_choices(other)) as stages,
        looking_for_parts() as parts,
        small_sieves(SMALL[rng.integers(len(SMALL))], rng.choice(ALIVE)) as noted,
        mock.patch.multiple(whole, SHARE=share, LOW_SHARE=share, ABOVE_RIM=rng.choice(RIMS)),
        mock.patch.multiple(whole, SINGLE_GAP=float(other.choice(SINGLE_GAPS)), LITTLE=float(other.choice(LITTLE))),
        small_hubs(other),
        mock.patch.multiple(module, SURE=sure),
    ):
        found = whole.prove_pose(case.pairs, start, options, Limits(node_limit=case.limit))
    ((proof,),) = (attempt.stages for attempt in found.attempts)
    returned = found.best.pose
    edge = ELSEWHERE * float(np.median(cloud.xi) if len(cloud) else 0.0) * (1.0 + 1e-9)
    most, far, missing = 0.0, 0.0, 0
    for candidate in _candidates(rng, case, returned, found.elsewhere, tries):
        pose = case.pairs.allow(candidate)
        saving = full_saving(case.pairs, pose, case.loss)
        most = max(most, saving)
        if saving > far and displacement(cloud, pose, returned) > edge:
            far = saving
        missing += sum(len(lost(cloud, pose, case.loss, sifted)) for sifted, _ in noted)
    wrong = []
    if most > proof.saving_bound * (1.0 + 1e-12):
        wrong.append(f"a pose saves {most!r}, the bound is {proof.saving_bound!r}")
    if far > proof.elsewhere * (1.0 + 1e-12):
        wrong.append(f"a pose elsewhere saves {far!r}, the bound is {proof.elsewhere!r}")
    if missing:
        wrong.append(f"{missing} times a pair was left out that saves something in a pose that matters")
    if proof.closed and proof.saving_bound > proof.saving * (1.0 + case.gap) * (1.0 + 1e-12):
        wrong.append("closed, and the gap is open")
    if case.pairs.prior is not None and not case.pairs.prior.contains(returned):
        wrong.append("the pose returned is not allowed")
    if not np.isclose(full_saving(case.pairs, returned, case.loss), proof.saving, rtol=1e-12):
        wrong.append("the pose returned does not save what the certificate says")
    left = (len(noted[0][0].index), noted[0][1]) if noted else (len(cloud), len(cloud))
    packs = [stage.packed for stage in stages if stage.packed is not None]
    copied = any(pack.size > pack.ballot.many for pack in packs)
    in_groups = any(groups_matter(pack, other) for pack in packs)
    return Verdict(
        proof,
        most,
        far,
        wrong,
        left,
        in_groups,
        copied,
        bool(parts),
        any(sifted.cells is not None for sifted, _ in noted),
    )


def _candidates(rng, case, returned, rival, tries):
    """Climbs from everywhere, and poses just beyond the edge of what is near the pose returned."""
    starts = [returned, case.start, *case.truths, *guesses(rng, case.pairs, tries)]
    if rival is not None:
        starts.append(rival)
    starts += [moved(rng, case.pairs, returned, bounds) for bounds in rng.uniform(0.1, 8.0, tries // 4)]
    for start in starts:
        pose = case.pairs.allow(start)
        yield pose
        yield climb(case.pairs, pose, case.loss)[0]
        yield climb(case.pairs, pose, case.loss, graduated=False)[0]
    around = ELSEWHERE * (1.0 + 1e-6)
    best = max(
        (case.pairs.allow(moved(rng, case.pairs, returned, around)) for _ in range(2 * tries)),
        key=lambda pose: full_saving(case.pairs, pose, case.loss),
    )
    yield best
    yield climb(case.pairs, best, case.loss, graduated=False)[0]
