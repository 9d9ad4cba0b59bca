"""One problem whose pairs come in pieces, from its first pass to a result: find, prove, judge."""

from __future__ import annotations

import logging
import os
from typing import NamedTuple

from tear3d.errors import InputError, StoppedError
from tear3d.find.ascent import ROUNDS, climb, climb_from
from tear3d.find.search import Search
from tear3d.judge.around import Around
from tear3d.judge.chance import Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.judge.verdict import could_be_chance
from tear3d.problem import ranks
from tear3d.problem.limits import Limits
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import Proof
from tear3d.result import Result
from tear3d.solving import Ending, Whole, package
from tear3d.stream.agreement import Agreement, Found
from tear3d.stream.checkpoint import Checkpoint
from tear3d.stream.local import Runner
from tear3d.stream.look import Facts, Look
from tear3d.stream.prove import Room, prove_streamed
from tear3d.stream.scene import Scene
from tear3d.stream.whole import check_digits, everybody

log = logging.getLogger("tear3d")

NEAR_BYTES = 160
"""What a pair near the pose takes while the pose is refined: as a pair, in the band, and with its neighbours."""
ENOUGH = 1e-3
"""A refinement that gains less than this share is the last (free choice)."""


class Measured(NamedTuple):
    """A pose, and what a pass over all pairs found of it and of its rivals."""

    pose: Pose
    saving: float
    found: Found


def solve_streamed(
    runner: Runner,
    edges: tuple[int, ...],
    options: Options,
    limits: Limits,
    room: int,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """`solve` for pairs that a runner holds.

    Parameters
    ----------
    runner : Runner
    edges : tuple of int
        Where pieces begin, and where the last one ends.
    options, limits
    room : int
        Bytes that may be taken for what is kept of the pairs.
    checkpoint : path, optional
        Where the proof is kept after every pass, and goes on from when the file is there.
    """
    ranks.load()
    with limits.timed("first look"):
        facts = _looked(runner, limits, checkpoint is not None)
        sample = _sampled(facts, limits)
    chance = Chance(sample)
    with limits.timed("candidates"):
        search = Search.run(sample, options, limits, chance.like)
        start = climb_from(search.refined(search.ranked()[0]), sample, options.the_loss, limits=limits).pose
        rivals = search.rivals(start)
    with limits.timed("judgement"):
        compared = contest(chance, start, rivals, options.the_loss)
    with limits.timed("refinement"):
        shown = [rival.pose for rival in compared.shown(runner.num_pairs)]
        best = _refined(runner, start, shown, sample, options, limits, room)
    proof, ended = Proof(Scored(best.pose, best.saving)), limits.exceeded()
    if options.certify and ended is None and not could_be_chance(compared.significance):
        with limits.proving():
            scene = Scene(sample.frame, best.pose, options.loss, everybody(facts, sample, best.pose, options.the_loss))
            kept = None if checkpoint is None else _checkpoint(checkpoint, facts, scene, best.saving, options, edges)
            space = Room(room, best.found.num_near)
            proof = prove_streamed(runner, scene, sample, proof.best, options, limits, space, kept)
            ended = limits.exceeded()
        if proof.best.pose is not best.pose:  # what is said of it must be of it, whatever the time
            with limits.timed("refinement"):
                anew = _measured(runner, proof.best.pose, shown, sample, options, Limits(), room)
            assert anew is not None  # without a limit
            best = anew
    with limits.timed("packaging"):
        ending = Ending(ended, search.done, limits.laps)
        whole = _whole(facts, sample, best, options, compared, edges)
        around = Around(best.found.pairs(sample.frame, runner.num_pairs), best.pose, best.found.share())
        return package(around, proof, options, ending, compared, whole)


def _checkpoint(
    path: str | os.PathLike[str], facts: Facts, scene: Scene, saving: float, options: Options, edges: tuple[int, ...]
) -> Checkpoint:
    limits = ("time_limit", "node_limit")
    settings = {name: value for name, value in options.to_dict().items() if name not in limits}
    about = {"edges": list(edges), "options": settings, "saving": saving, "pose": scene.pose.row}
    return Checkpoint(path, about | {"pairs": facts.fingerprint()})


def _looked(runner: Runner, limits: Limits, fingerprint: bool) -> Facts:
    work = Look(runner.num_pairs, fingerprint)
    facts = runner.run(work, limits, lambda done: limits.report("first look", 0.0, 0.0, done))
    if facts is None:
        raise _stopped("the pairs were not read once", limits)
    facts.check(runner.num_pairs)
    return facts


def _stopped(what: str, limits: Limits) -> StoppedError:
    ended = limits.exceeded() or "time_limit"
    return StoppedError(f"{what} before {'the limit' if ended != 'interrupted' else 'the call was stopped'}", ended)


def _sampled(facts: Facts, limits: Limits) -> Pairs:
    x, y, xi, w = (facts.sampled(k) for k in range(4))
    try:
        sample = Pairs.of(x, y, xi, w)
    except InputError as error:
        raise InputError(f"of a sample of {len(x)} of the pairs: {error}") from None
    check_digits(facts, sample.frame, sample.frame.unit * sample.typical_bound)
    return sample


def _measured(
    runner: Runner, pose: Pose, others: list[Pose], sample: Pairs, options: Options, limits: Limits, room: int
) -> Measured | None:
    """One pass for a pose and its rivals; None when the limits are over."""
    work = Agreement((pose, *others), sample.frame, options.loss, max(1, room // NEAR_BYTES))
    found = runner.run(work, limits, lambda done: limits.report("refinement", 0.0, 0.0, done))
    return None if found is None else Measured(pose, found.saving(0), found)


def _refined(
    runner: Runner, start: Pose, others: list[Pose], sample: Pairs, options: Options, limits: Limits, room: int
) -> Measured:
    """Climb on the pairs near the pose, and measure again, until little is gained."""
    best = _measured(runner, start.orthonormal(), others, sample, options, limits, room)
    if best is None:
        raise _stopped("the pose was not measured over all pairs", limits)
    for _ in range(ROUNDS):
        near = best.found.pairs(sample.frame, runner.num_pairs)
        if len(near) < 3 or limits.over():
            break
        pose = climb(near, best.pose, options.the_loss, graduated=False, limits=limits)[0].orthonormal()
        better = _measured(runner, pose, others, sample, options, limits, room)
        if better is None or not better.saving > best.saving:
            break
        gained, best = better.saving - best.saving, better
        if gained <= ENOUGH * best.saving:
            break
    return best


def _whole(
    facts: Facts, sample: Pairs, best: Measured, options: Options, compared: Contest, edges: tuple[int, ...]
) -> Whole:
    found, frame, loss = best.found, sample.frame, options.the_loss
    measured = [(found.saving(k), int(found.counts[k])) for k in range(1, len(found.counts))]
    low, high = float(facts.bounds[0]), float(facts.bounds[1])
    return Whole(
        total=facts.total(loss.name) / frame.saving_unit(loss),
        num_pairs=edges[-1],
        aside=0,
        aside_saving=0.0,
        noise_bound=low if low == high else {"lowest": low, "highest": high},
        centre=frame.source + frame.unit * sample.x_mean,
        alternatives=compared.alternatives(frame, frame.saving_unit(loss), measured),
        mask=found.mask(edges),
        rmse=found.rmse(),
    )
