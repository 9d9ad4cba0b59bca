"""One problem from checked pairs to a result: find, prove, judge."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import BAND, climb_from
from tear3d.find.search import Search
from tear3d.judge.ambiguity import Alternative
from tear3d.judge.around import Around
from tear3d.judge.chance import SIGNIFICANT, Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.judge.uncertainty import pose_covariance
from tear3d.judge.verdict import Evidence, could_be_chance, near_tie, verdict
from tear3d.problem import ranks
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits, Stop
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Scored, full_saving, saving_and_count, survey
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import Certificate, Proof
from tear3d.result import Result

log = logging.getLogger("tear3d")

Jury = Callable[[Search, Chance, Pose, list[Pose]], Contest]
"""Compares a pose with others, which the search found."""


def solve(
    pairs: Pairs,
    options: Options,
    limits: Limits,
    search: Search | None = None,
    chosen: Pose | None = None,
    jury: Jury | None = None,
) -> Result:
    """`register` for checked pairs and options, within limits that the call may share with others.

    `search`, when it is done already; `chosen`, the one of its poses to start from instead of the best by the pairs;
    `jury`, when the pose is not to be compared with all others of these pairs.
    """
    if not ranks.loaded():
        with limits.timed("loading"):
            ranks.load()
    pairs.check_range(options.the_loss)
    if pairs.prior is None:
        pairs = pairs.confined(options.prior)
    chance = Chance(pairs)
    if options.method == "paper":
        return _solve_as_printed(pairs, options, limits, chance)
    with limits.timed("candidates"):
        if search is None:
            search = Search.run(pairs, options, limits, chance.like)
        start = search.refined(search.ranked()[0]) if chosen is None else survey(pairs, chosen, options.the_loss, BAND)
        best = Scored(*climb_from(start, pairs, options.the_loss, limits=limits)[:2])
        rivals = search.rivals(best.pose)
    log.info("candidate saves %.6g after %.3f s", best.saving, limits.seconds)

    with limits.timed("judgement"):
        compared = _compared(search, chance, best.pose, rivals, jury)
    proof, ended = Proof(best), limits.exceeded()
    if options.certify and ended is None and not could_be_chance(compared.significance):
        with limits.proving():
            proof = _proven(pairs, best, options, limits, chance)
            ended = limits.exceeded()
    beaten = False
    runner_up = _runner_up(proof, compared, chance, options.the_loss)
    if runner_up or not proof.about(best):
        with limits.timed("judgement"):
            others = search.others(proof.best.pose, [best.pose, *rivals, *runner_up])
            compared = _compared(search, chance, proof.best.pose, others, jury)
            if could_be_chance(compared.significance) and not proof.about(best):
                others = search.others(best.pose, [proof.best.pose, *rivals])
                found = _compared(search, chance, best.pose, others, jury)
                beaten = not could_be_chance(found.significance)
            if beaten:  # what saves most could be chance, and what was found could not
                compared, proof, ended = found, Proof(best), None
    with limits.timed("packaging"):
        return _package(pairs, proof, options, Ending(ended, search.done, limits.laps, beaten), compared)


def _compared(search: Search, chance: Chance, pose: Pose, others: list[Pose], jury: Jury | None) -> Contest:
    if jury is not None:
        return jury(search, chance, pose, others)
    return contest(chance, pose, others, search.options.the_loss, search.outsiders)


def _solve_as_printed(pairs: Pairs, options: Options, limits: Limits, chance: Chance) -> Result:
    """By the paper's method; its pose is judged as any other."""
    from tear3d.prove.paper import solve_as_printed

    with limits.proving():
        proof = solve_as_printed(pairs, options, limits)
        ended = limits.exceeded()
    with limits.timed("judgement"):
        compared = contest(chance, proof.best.pose, [], options.the_loss)
    with limits.timed("packaging"):
        return _package(pairs, proof, options, Ending(ended, ended is None, limits.laps), compared)


def _proven(pairs: Pairs, best: Scored, options: Options, limits: Limits, chance: Chance) -> Proof:
    """The proof that was asked for; its kernels are those that an answer alone does without."""
    if options.certify == "pose":
        from tear3d.prove.whole import prove_pose

        return prove_pose(pairs, best, options, limits)
    from tear3d.prove.rows import prove_rows

    return Proof(*prove_rows(pairs, best, options, limits, chance, SIGNIFICANT))


def _runner_up(proof: Proof, compared: Contest, chance: Chance, loss: Loss) -> list[Pose]:
    """The pose that the proof met elsewhere, if it saves more than all others that are known."""
    if proof.elsewhere is None:
        return []
    known = max((rival.saving for rival in compared.rivals), default=0.0)
    return [proof.elsewhere] if full_saving(chance.pairs, proof.elsewhere, loss) > known else []


class Ending(NamedTuple):
    """How a call came to its end."""

    ended: Stop | None
    candidates_done: bool
    seconds: dict[str, float]
    beaten: bool = False
    """Another pose saves more than the one that stands out from chance, and does not."""


class Whole(NamedTuple):
    """What a result says of all pairs."""

    total: float
    """Σ w·cap inside."""
    num_pairs: int
    """As given, of which ..."""
    aside: int
    """... so many were set aside; ..."""
    aside_saving: float
    """... all they could save."""
    noise_bound: float | dict[str, float]
    centre: FloatArray
    alternatives: tuple[Alternative, ...]
    mask: NDArray[np.bool_] | None = None
    rmse: float | None = None
    """Inliers and their residuals, where what is near the pose is not all of them."""

    @classmethod
    def of(cls, pairs: Pairs, loss: Loss, compared: Contest) -> Whole:
        """Of pairs that are all in memory."""
        measured = [
            (rival.saving, rival.num_inliers) if pairs is compared.pairs else saving_and_count(pairs, rival.pose, loss)
            for rival in compared.shown(len(pairs))
        ]
        frame = pairs.frame
        return cls(
            total=pairs.total(loss),
            num_pairs=pairs.num_given,
            aside=len(pairs.aside[0]),
            aside_saving=pairs.aside_total(loss),
            noise_bound=pairs.given_bound,
            centre=frame.source + frame.unit * pairs.x_mean,
            alternatives=compared.alternatives(frame, frame.saving_unit(loss), measured),
        )


def _package(pairs: Pairs, proof: Proof, options: Options, ending: Ending, compared: Contest) -> Result:
    around = Around(pairs, proof.best.pose)
    return package(around, proof, options, ending, compared, Whole.of(pairs, options.the_loss, compared))


def package(around: Around, proof: Proof, options: Options, ending: Ending, compared: Contest, whole: Whole) -> Result:
    """Everything about the best pose, in the coordinates and units that were given; `around` is what is near it."""
    best, pairs, loss = proof.best, around.pairs, options.the_loss
    frame = pairs.frame
    unit = frame.saving_unit(loss)
    mask = pairs.mask(around.inside) if whole.mask is None else whole.mask
    ambiguity = compared.ambiguity(around)
    if options.certify == "pose" and proof.attempts:
        ambiguity = ambiguity or near_tie(whole.alternatives, unit * best.saving)
    known = Evidence(
        level=compared.significance,
        num_inliers=int(np.count_nonzero(mask)),
        certify=options.certify,
        certificate=Certificate(tuple(attempt.scaled(unit) for attempt in proof.attempts)),
        ended=ending.ended,
        candidates_done=ending.candidates_done,
        aside=whole.aside,
        # The bound of the whole pose has them in it already.
        aside_may_win=options.certify != "pose" and whole.aside_saving > best.saving,
        ambiguity=ambiguity,
        alone=compared.level,
        # Some of the pairs that agree may lie in fewer places than all.
        places=compared.places if len(compared.pairs) == whole.num_pairs - whole.aside else None,
        resolution=options.resolution,
        scope="" if options.prior is None else options.prior.words(),
        at_edge=pairs.prior is not None and pairs.prior.at_edge(best.pose),
        beyond=compared.beyond,
        similar=options.scale is not None,
        beaten=ending.beaten,
    )
    status, message = verdict(known)
    return Result(
        transformation=frame.outside(best.pose).matrix,
        inlier_mask=mask,
        inlier_rmse=frame.unit * (around.rmse if whole.rmse is None else whole.rmse),
        saving=unit * best.saving,
        objective=max(0.0, unit * (whole.total - best.saving)),  # rounding must not make it negative
        status=status,
        message=message,
        certificate=known.certificate,
        significance=known.level,
        seconds=ending.seconds,
        centre=whole.centre,
        settings=options.to_dict() | {"noise_bound": whole.noise_bound, "pairs": whole.num_pairs},
        alternatives=whole.alternatives,
        ambiguity=known.ambiguity,
        covariance=pose_covariance(around, loss),
    )
