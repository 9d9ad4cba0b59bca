"""The whole pose at once: six dimensions, and the proof is about the pose that is returned."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from tear3d.find.ascent import climb
from tear3d.problem.compiling import compile_cold
from tear3d.problem.limits import Limits, relative_gap
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Scored, inlier_mask
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import POSE, Attempt, Proof, StageCertificate
from tear3d.prove.driver import Found, maximise
from tear3d.prove.pose.confined import cells_are_few
from tear3d.prove.pose.hubs import FEWEST_PAIRS, fits, sift_by_hubs
from tear3d.prove.pose.rim import saving_at_rim
from tear3d.prove.pose.sift import FEW_MORE, MOST_PAIRS, Sifted, sift
from tear3d.prove.pose.stage import ELSEWHERE, SHARE, WholePose, usable
from tear3d.prove.pose.zones import farthest_square

log = logging.getLogger("tear3d")

LOW_SHARE, FEW = 0.45, 40
"""What is elsewhere is bounded by this share of the saving when that is no more than so many pairs can save, ..."""
ABOVE_RIM = 1.3
"""... but not below so many times what is saved where elsewhere begins (free choices)."""
VERY_FEW, FEW_PAIRS = 8, 1_500
"""Where rotations are few, votes alone are done sooner; unless the saving is no more than so many pairs can save, of so
many in all: then votes may take long, and lengths come first (free choices, made on problems of 600 to 1 400 pairs,
99 % wrong, of `benchmarks.priors` and in wider balls; with 10 right ones of 3 000 lengths took longer)."""
SINGLE_GAP = 0.002
"""For smaller gaps boxes are bounded in float64: their rounding in float32 may be a tenth of this (section 8.5)."""
LITTLE = 1_000_000_000
"""Words and lengths that are no reason to look for anything else than lengths (free choice, made on six synthetic
problems and seven real ones)."""
MOST_SEARCHES = 3
"""A search that finds a better pose is done again from there, so many in all (free choice)."""
MANY = 1_000_000
"""More pairs than this are too slow to climb on when the time is over."""


def prove_pose(pairs: Pairs, start: Scored, options: Options, limits: Limits) -> Proof:
    """Search all rotations and translations.

    Parameters
    ----------
    pairs, start
        The pairs, and a very good pose. A poor one costs no correctness but all speed.
    options, limits
    """
    with limits.timed(POSE):
        sifter = _Sifter(pairs, start, options, limits)
        stage = sifter.stage(start.pose)
        first = stage.pose
        found, covered = _searched(stage, options, limits)
        for _ in range(MOST_SEARCHES - 1):
            if covered or limits.exceeded() is not None:
                break
            log.info("a better pose was found: searching again from there")
            del stage  # before the pairs are packed once more
            stage = sifter.stage(found.solution)
            again, covered = _searched(stage, options, limits)
            found = again._replace(certificate=_joined(found.certificate, again.certificate, options.rel_gap))
        some = stage.pairs
        del stage  # what comes now needs room, too
        certificate = _with_aside(found.certificate, pairs.aside_total(options.the_loss), options.rel_gap)
        if options.prior is not None:
            certificate = replace(certificate, scope=options.prior.words())
        other = _elsewhere(some, options.the_loss, found, limits)
    pose = start.pose if found.solution is first else found.solution
    return Proof(Scored(pose, certificate.saving), (Attempt((certificate,), agrees=True),), other)


class _Sifter:
    """Stages for the same pairs, without those that cannot matter."""

    def __init__(self, pairs: Pairs, start: Scored, options: Options, limits: Limits) -> None:
        self.pairs, self.loss = pairs, options.the_loss
        single = options.rel_gap >= SINGLE_GAP
        self.how: dict[str, Any] = {"single": single, "threads": options.threads, "limits": limits}
        some, proof = usable(pairs), 1.0 + WholePose.prune * options.rel_gap
        self.share, self.sifted = proof, None
        if 0 < len(some) <= MOST_PAIRS:
            rim = saving_at_rim(some, self.loss, start.pose, ELSEWHERE * some.typical_bound)
            agree = start.saving / float(self.loss.caps(some.xi).max())
            low = LOW_SHARE if pairs.prior is None and agree <= FEW else SHARE
            shares = [share for share in sorted({low, SHARE}) if share * start.saving >= ABOVE_RIM * rim] + [proof]
            self.share = shares[0]
            if not cells_are_few(pairs.prior):
                self.sifted = self._sift(some, start, shares, limits, options.threads)
            elif agree <= VERY_FEW and len(some) <= FEW_PAIRS:
                self.sifted = sift(some, self.loss, start, shares, limits, options.threads, few=FEW_PAIRS)
        if self.sifted is not None:
            log.info("%d of %d pairs are left for the search", len(self.sifted.index), len(some))

    def _sift(self, some: Pairs, start: Scored, shares: list[float], limits: Limits, threads: int) -> Sifted | None:
        """By lengths alone as far as that costs little; then about one pair after the other, where they fit that."""
        if not fits(some, self.loss, start):
            return sift(some, self.loss, start, shares, limits, threads)
        sifted = sift(some, self.loss, start, shares, limits, threads, LITTLE)
        agree = np.count_nonzero(inlier_mask(some, start.pose))
        if sifted is not None and len(sifted.index) < max(FEWEST_PAIRS, FEW_MORE * agree):
            return sifted
        compile_cold(("hubs" if some.prior is None else "confined hubs",), limits)
        limit = shares[-1] * start.saving if sifted is None else sifted.limit
        left = some if sifted is None else some.take(sifted.index)
        again = sift_by_hubs(left, self.loss, start, limit, limits, threads)
        if again is None:
            return sifted or sift(some, self.loss, start, shares, limits, threads)
        return again if sifted is None else again._replace(index=sifted.index[again.index])

    def stage(self, pose: Pose) -> WholePose:
        return WholePose(self.pairs, self.loss, pose, self.sifted, self.share, **self.how)


def _searched(stage: WholePose, options: Options, limits: Limits) -> tuple[Found, bool]:
    """One search, and whether what it takes for near its start is near what it found."""
    found = maximise(stage, stage.start(), rel_gap=options.rel_gap, limits=limits, threads=options.threads)
    return found, found.solution is stage.pose or stage.stayed(found.solution)


def farthest_move(pairs: Pairs, pose: Pose, other: Pose) -> float:
    """How far apart two poses put a point of the source at most, in typical noise bounds."""
    turn, shift = pose.rotation - other.rotation, pose.translation - other.translation
    return float(np.sqrt(farthest_square(pairs.x, turn, shift))) / pairs.typical_bound


def _joined(first: StageCertificate, again: StageCertificate, rel_gap: float) -> StageCertificate:
    """What two searches of the same problem proved: the bounds of both hold."""
    bound = max(again.saving, min(first.saving_bound, again.saving_bound))
    history = np.concatenate([first.history, again.history])
    history[:, 2] = np.minimum.accumulate(history[:, 2])
    closed = again.closed or relative_gap(again.saving, bound) <= rel_gap
    return replace(
        again,
        saving_bound=bound,
        lower_bound=again.objective + again.saving - bound,
        cells=first.cells + again.cells,
        closed=closed,
        ended_by="gap" if closed else again.ended_by,
        history=history,
        elsewhere=None if again.elsewhere is None else min(again.elsewhere, bound),
    )


def _with_aside(certificate: StageCertificate, aside: float, rel_gap: float) -> StageCertificate:
    """With the poses that only pairs set aside agree with; mathematics.md, section 1.5."""
    if certificate.elsewhere is not None and aside > certificate.elsewhere:
        certificate = replace(certificate, elsewhere=aside)
    if aside <= certificate.saving_bound:
        return certificate
    closed = relative_gap(certificate.saving, aside) <= rel_gap
    return replace(
        certificate,
        saving_bound=aside,
        lower_bound=certificate.objective + certificate.saving - aside,
        closed=closed,
        ended_by="gap" if closed else "set_aside",
    )


def _elsewhere(pairs: Pairs, loss: Loss, found: Found, limits: Limits) -> Pose | None:
    """The best pose met elsewhere, made better, if it stays there."""
    if found.far_solution is None or (limits.over() and len(pairs) > MANY):
        return None
    pose, _ = climb(pairs, found.far_solution, loss)
    return pose if farthest_move(pairs, pose, found.solution) > ELSEWHERE else None
