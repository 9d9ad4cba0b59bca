"""Similarities: a search over the scale, in which the proof for rigid motions bounds an interval.

Mathematics.md, section 13. In an interval of scales around s₀ every pair may move by no more than the half width times
its distance from the middle of the source. With noise bounds that are larger by so much, a rigid motion of the source
times s₀ saves at least as much as any similarity of the interval. So what bounds all rigid motions bounds these.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import climb
from tear3d.find.swell import climb_similar
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits, relative_gap
from tear3d.problem.losses import LOSSES, Loss
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, rigid_part, similar
from tear3d.prove.certificate import POSE, Attempt, Proof, StageCertificate
from tear3d.prove.driver import MAX_HISTORY, maximise
from tear3d.prove.pose.lots import make_lot, take_lot
from tear3d.prove.pose.sieve import left_of
from tear3d.prove.pose.sift import MOST_PAIRS, sift
from tear3d.prove.pose.stage import PRUNE, usable
from tear3d.prove.scales.intervals import Inflated, Interval, inflate, pieces
from tear3d.prove.scales.turn import TIGHT, Exceeding, Turn

log = logging.getLogger("tear3d")

HALF = 0.6
"""The share of the gap that an interval may use up where the best similarity is, so that something is left to the
search in it."""
WIDE = 0.5
"""Wider intervals, in typical noise bounds that a typical pair moves by, are not searched but halved if lengths leave
some of their pairs; ..."""
NARROW = 0.02
"""... those narrower than this share of the gap are searched to their end."""
BUDGET, LEAST, MOST = 5_000_000, 6_000, 20_000
"""Cells times pairs that a search of one in between may visit before it is halved instead, but at least and at most so
many cells; times √(WIDE / w) where a typical pair moves by w, since less and less is gained by halving."""
FEW = 500
"""So few pairs are always sifted, all together."""
WORK = 1e9
"""Words and lengths, about half a nanosecond each, that may be looked at to sift the pairs of a wide one. All free
choices, part of no bound."""


def prove_similarity(
    pairs: Pairs,
    start: Scored,
    span: ScaleRange,
    options: Options,
    limits: Limits,
    scope: str = "",
    no_pose: Callable[[Pose], bool] = lambda pose: False,
) -> Proof:
    """Search all similarities with a scale of `span`.

    Parameters
    ----------
    pairs : Pairs
        None of them set aside.
    start : Scored
        A very good similarity, as a pose whose matrix is a scaled rotation.
    span, options, limits
    scope : str
        What the poses that were searched are called.
    no_pose : callable
        Whether a similarity is none that is sought: it ends when one saves more, and has that as its best.
    """
    with limits.timed(POSE):
        search = _Scales(usable(pairs), start, span, options, limits)
        search.no_pose = no_pose
        ended_by = search.run()
    return Proof(search.best, (Attempt((replace(search.certificate(ended_by), scope=scope),), agrees=True),))


class _Scales:
    no_pose: Callable[[Pose], bool]
    lost = False
    """What saves most is none that is sought."""

    def __init__(self, pairs: Pairs, start: Scored, span: ScaleRange, options: Options, limits: Limits) -> None:
        self.pairs, self.span, self.options, self.limits = pairs, span, options, limits
        self.loss, self.best = options.the_loss, start
        self.total = pairs.total(self.loss)
        self.closed = 0.0
        self.cells = self.age = self.done = 0
        self.running = 0.0
        self.open: list[tuple[float, int, Interval]] = []
        self.history: list[tuple[float, float, float]] = []
        every = np.arange(len(pairs))
        most = self.total * (1.0 + 1e-12 * (len(pairs) + 2))
        for low, high in pieces(pairs, span):
            self._push(Interval(low, high, most, every))

    @property
    def threshold(self) -> float:
        """Intervals whose bound is at most this are closed."""
        return self.best.saving * (1.0 + PRUNE * self.options.rel_gap)

    def bound(self) -> float:
        """No similarity saves more."""
        return max(self.best.saving, self.closed, self.running, -self.open[0][0] if self.open else 0.0)

    def run(self) -> str:
        """Until the gap is closed, or the limits are over."""
        while self.open:
            self._report()
            if -self.open[0][0] <= self.threshold:
                return "gap"
            reason = self.limits.exceeded()
            if reason is not None or self.lost:
                return reason or "interrupted"
            interval = heapq.heappop(self.open)[2]
            self.running = interval.bound
            left = self._searched(interval)
            for part in left:
                self._push(part)
            self.done += 1
            self.running = 0.0
        return "gap"

    def _push(self, interval: Interval) -> None:
        self.age += 1
        heapq.heappush(self.open, (-interval.bound, self.age, interval))

    def _searched(self, interval: Interval) -> list[Interval]:
        """What is left of an interval: nothing, or its halves."""
        rows, limit = interval.rows, self.threshold
        inflated = inflate(self.pairs, self.loss, interval)
        narrow = inflated.moves <= NARROW * self.options.rel_gap
        if len(rows) <= MOST_PAIRS:
            index = self._sifted(interval, inflated, limit)
            if index is None and inflated.moves > WIDE:
                return self._halves(interval)
            if index is not None and len(index) < len(rows):
                rows = rows[index]
                inflated = inflate(self.pairs, self.loss, interval._replace(rows=rows)) if len(rows) else inflated
        if not len(rows) or self._caps(rows) <= limit:
            self.closed = max(self.closed, min(interval.bound, limit))
            return []
        interval = interval._replace(rows=rows, bound=min(interval.bound, max(limit, self._caps(rows))))
        if inflated.moves > WIDE:
            return self._halves(interval)
        middle, pose = self._known(interval)
        reached = climb(inflated.pairs, pose, self.loss, graduated=False, limits=self.limits)[1]
        if reached > self.best.saving * (1.0 + HALF * self.options.rel_gap) and not narrow:
            return self._halves(interval)
        budget = min(MOST, max(LEAST, BUDGET // len(rows))) * (WIDE / max(inflated.moves, 1e-300)) ** 0.5
        bound = self._rigid(inflated.pairs, pose, middle, limit, 2**62 if narrow else int(budget))
        bound = min(interval.bound, max(bound, limit))
        if bound <= limit:
            self.closed = max(self.closed, bound)
            return []
        return self._halves(interval._replace(bound=bound))

    def _sifted(self, interval: Interval, inflated: Inflated, limit: float) -> NDArray[np.int64] | None:
        """Which of the pairs of an interval are in a similarity that saves more, by their lengths; None if that does
        not pay."""
        pairs, loss = inflated.lengths, self.loss
        if inflated.moves > 1.0:  # pairs save no more than they do unmoved: count them by that
            own = take(self.pairs.w, interval.rows) * self.loss.caps(take(self.pairs.xi, interval.rows))
            pairs, loss = replace(pairs, w=own), LOSSES["cm"]
        if len(pairs) <= FEW:
            return self._sifted_at_once(pairs, loss, limit)
        most = WORK if inflated.moves > WIDE else np.inf
        known = Scored(self._known(interval)[1], limit)
        found = sift(pairs, loss, known, [1.0], self._turn(), self.options.threads, most)
        return None if found is None else found.index

    def _sifted_at_once(self, pairs: Pairs, loss: Loss, limit: float) -> NDArray[np.int64] | None:
        """The same for few pairs: to ask whether it pays would take longer."""
        lot = make_lot(pairs, loss)
        if lot is None:
            return None
        index, before = np.arange(len(pairs)), len(pairs) + 1
        with Crew[None](1, self._turn()) as crew:
            while 0 < len(index) < before:
                left = left_of(lot, len(index), limit, crew)
                if left is None:
                    return None
                before, index, lot = len(index), index[left], take_lot(lot, left)
        return index

    def _rigid(self, pairs: Pairs, pose: Pose, scale: float, limit: float, budget: int) -> float:
        """A bound of what rigid motions save, to `limit` if it is not exceeded."""
        turn = self._turn(budget)
        stage = Exceeding(pairs, self.options, pose, limit / (1.0 + TIGHT), turn)
        found = maximise(stage, stage.start(), rel_gap=TIGHT, limits=turn, threads=self.options.threads)
        self.cells += found.certificate.cells
        self.limits.cells += found.certificate.cells
        if stage.better is not None:
            self._improve(similar(scale, stage.better))
        return found.certificate.saving_bound

    def _improve(self, pose: Pose) -> None:
        """A motion that saves more with larger noise bounds may lead to a better similarity."""
        reached = climb_similar(self.pairs, pose, self.loss, self.span, limits=self.limits)
        if reached.saving > self.best.saving:
            log.info("a better similarity was found: it saves %.6g", reached.saving)
            self.best = Scored(reached.pose, reached.saving)
            self.lost = self.no_pose(reached.pose)

    def _known(self, interval: Interval) -> tuple[float, Pose]:
        """The middle of an interval, and the best pose as a rigid one of its inflated pairs."""
        mean = self.pairs.x[interval.rows].mean(axis=0)
        return interval.middle, rigid_part(self.best.pose.between(mean, np.zeros(3)))[1]

    def _caps(self, rows: NDArray[np.int64]) -> float:
        caps = np.broadcast_to(self.pairs.w * self.loss.caps(self.pairs.xi), len(self.pairs))
        return float(np.sum(caps[rows])) * (1.0 + 1e-12 * (len(rows) + 2))

    def _halves(self, interval: Interval) -> list[Interval]:
        halves = interval.halves()
        if not halves:
            self.closed = max(self.closed, interval.bound)
        return halves

    def _turn(self, budget: int = 2**62) -> Turn:
        return Turn.of(self.limits, budget, self._report)

    def _report(self, *, last: bool = False) -> None:
        bound = self.bound()
        self.limits.report(POSE, self.best.saving, bound, self.done / max(1, self.done + len(self.open)))
        self.history.append((self.limits.seconds, self.best.saving, bound))
        if len(self.history) >= MAX_HISTORY:
            self.history = self.history[::2]

    def certificate(self, ended_by: str) -> StageCertificate:
        apart = self.pairs.aside_total(self.loss)  # of poses that none but these agree with
        bound = max(self.bound(), apart)
        closed = relative_gap(self.best.saving, bound) <= self.options.rel_gap
        ended_by = "set_aside" if ended_by == "gap" and bound == apart else ended_by
        self._report(last=True)
        return StageCertificate(
            name=POSE,
            objective=self.total - self.best.saving,
            lower_bound=self.total - bound,
            saving=self.best.saving,
            saving_bound=bound,
            cells=self.cells,
            closed=closed,
            ended_by="gap" if closed else "resolution" if ended_by == "gap" else ended_by,
            history=np.array(self.history).reshape(-1, 3),
        )
