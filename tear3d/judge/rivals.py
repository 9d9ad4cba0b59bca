"""The other poses of a problem: what they make of the best one's significance, and whether one of them may be meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tear3d.find.pool import SAME
from tear3d.judge.ambiguity import Alternative, Ambiguity
from tear3d.judge.around import Around
from tear3d.judge.chance import SIGNIFICANT, Chance
from tear3d.judge.standing import STRUCTURES, standing
from tear3d.judge.symmetry import free_motions, in_words
from tear3d.judge.uncertainty import free_turn
from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.problem.frame import Frame
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed, full_saving, survey
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose

CLOSE = 0.8
"""A rival that saves, and surprises, at least this share of what the best pose does may be meant just as well. Free
choice: the two motions of tests/judge/test_rivals.py save as much as each other, or a third."""
RELATED = 0.5
"""The same for a rival that a symmetry leads to: matches choose between equal places at random."""
ONTO_ITSELF = 0.5
"""Share of the points, beyond what any place would give, that a symmetry leaves on the cloud. RELATED and this are free
choices, made on the turned, round and repeated things of tests/judge/test_rivals.py. On FPFH matches of 28 other random
shapes (`benchmarks.families`) 99 rivals of the 14 symmetric ones saved half or more, and 75 of them left half or more
on the cloud; of the 14 that a detail makes asymmetric 5 did both, and none was told apart: such a detail has few
matches."""
WORTH, MOSTLY = 2.0, 0.5
"""A pose that is not allowed, saves so many times as much as the best, and puts more than this share of what agrees
with that where it does, or on the same surface, is what the pairs are about: the best is no more than what a prior has
left of it. Chosen on data at hand: to ask it of all that agrees was too much on the wrong rotations of tests/register
and on real pairs with wrong axes; of the latter half of it let none of 98 pass."""
ALTERNATIVES, FEW, MANY = 8, 2, 1_000_000
"""Rivals that are shown, and of how many pairs on only some: each is a pass over all of them."""
SUPPORT = 500
CLOUD = 5000
"""Points with which symmetries are tested, and points they may land on."""


class Rival(NamedTuple):
    """Another pose, over the same pairs as the best."""

    pose: Pose
    saving: float
    num_inliers: int
    level: float
    """As if there were no other poses."""
    related: bool
    """It comes from the best pose by a motion that leaves both clouds as they are."""


@dataclass(frozen=True, eq=False)
class Contest:
    """The best pose among its rivals."""

    pairs: Pairs
    """Those it was held on, all or some."""
    rivals: list[Rival]
    """The one that saves most first."""
    significance: float
    meant: list[Rival]
    """Rivals that may be meant just as well."""
    best: Pose
    level: float
    saving: float
    log10_tests: float
    places: int = 0
    """Different ones, in the source or the target, in which the pairs that agree with the best lie."""
    beyond: float = 0.0
    """How many times what the best saves is saved by some pose that a prior does not allow."""

    def shown(self, num_pairs: int) -> list[Rival]:
        """The rivals that a result names, of so many pairs."""
        return self.rivals[: ALTERNATIVES if num_pairs <= MANY else FEW]

    def alternatives(self, frame: Frame, unit: float, measured: list[tuple[float, int]]) -> tuple[Alternative, ...]:
        """The rivals shown, in the coordinates and units that were given; with the saving and the number of inliers of
        each over all pairs."""
        found = [
            Alternative(frame.outside(rival.pose).matrix, unit * saving, count, self.significance_of(rival))
            for rival, (saving, count) in zip(self.rivals, measured, strict=False)
        ]
        return tuple(sorted(found, key=lambda other: -other.saving))

    def ambiguity(self, around: Around) -> Ambiguity | None:
        """Why another pose may be meant just as well; None when none is. `around` is what is near the best."""
        named = self.significance <= SIGNIFICANT or around.all_on_a_line(self.pairs)
        turn = free_turn(around) if named and around.is_long else None
        if turn is not None:
            sentence = "the pairs that agree lie on a line, so that "
            return Ambiguity(sentence + in_words((turn,)), (turn,))
        if not self.meant:
            return None
        pairs = around.pairs
        frame = pairs.frame
        points = pairs.x[spread_rows(len(pairs), CLOUD)] * frame.unit + frame.source
        related = [frame.outside(rival.pose).matrix for rival in self.meant if rival.related]
        bound = frame.unit * pairs.typical_bound
        free = free_motions(frame.outside(self.best).matrix, related, points, noise_bound=bound) if related else ()
        return Ambiguity(self._sentence() + (f"; free: {in_words(free)}" if free else ""), free)

    def _sentence(self) -> str:
        """What the poses are that may be meant as well: such that explain the pairs as well, or by a symmetry."""
        share = max(rival.saving for rival in self.meant) / self.saving
        several = len(self.meant) > 1
        poses, best = (f"{len(self.meant)} other poses", "the best of them") if several else ("another pose", "it")
        saves = f"{best} saves {100.0 * share:.0f} % of what this one does"
        if share >= CLOSE:
            return f"{poses} {'explain' if several else 'explains'} the pairs about as well ({saves})"
        leave = "motions that leave" if several else "a motion that leaves"
        return f"{leave} both clouds nearly as they are {'lead' if several else 'leads'} to {poses} ({saves})"

    def significance_of(self, rival: Rival) -> float:
        """That of a rival among all the others."""
        others = [other.level for other in self.rivals if other is not rival and not other.related]
        return standing(rival.level, others if rival.related else [self.level, *others], self.log10_tests)


def contest(
    chance: Chance, best: Pose, others: list[Pose], loss: Loss, outsiders: Callable[[Pose], list[Pose]] | None = None
) -> Contest:
    """Compare a pose with others over the pairs by which chance is judged; over more of them, where it could be.

    `outsiders` finds poses that a prior does not allow. They are no rivals, but tell as well as those how cheap a
    consensus is in these data: among the few poses of a prior, one of many objects would always stand out.
    """
    found = _contest(chance, best, others, loss)
    if found.significance > SIGNIFICANT and chance.finer is not None:
        chance = chance.finer
        found = _contest(chance, best, others, loss)
    if found.significance > SIGNIFICANT or outsiders is None:
        return found
    beyond = _look_beyond(chance, best, outsiders(best), loss)
    tests, own = found.log10_tests, found.log10_tests - found.level
    levels = [rival.level for rival in found.rivals if not rival.related] + [tests - each for each in beyond.surprises]
    significance = standing(found.level, levels, tests)
    if beyond.better > own:  # what agrees is a part of what agrees with another pose
        significance = max(significance, STRUCTURES * (1.0 - own / beyond.better))
    return replace(found, significance=significance, beyond=beyond.share)


class _Beyond(NamedTuple):
    """What poses come to that are not allowed."""

    surprises: list[float]
    """Of those that explain other pairs, ..."""
    better: float
    """... and the largest of those that explain the same, or as much by a symmetry, and WORTH times as much in all."""
    share: float
    """How many times what the best pose saves the best of them all does."""


def _look_beyond(chance: Chance, best: Pose, outsiders: list[Pose], loss: Loss) -> _Beyond:
    pairs, free = chance.pairs, chance.free
    own = survey(pairs, best, loss, 1.0)
    symmetry: _Symmetry | None = None
    surprises, better, share = [], 0.0, 0.0
    for pose in outsiders:
        times = full_saving(pairs, pose, loss) / max(own.saving, 1e-300)
        surprise, alike = free.log10_tests - free(pose), _share_there(pairs, own, pose) > MOSTLY
        if not alike and times >= RELATED:
            symmetry = symmetry or _Symmetry(pairs, own)
            alike = symmetry.relates(pose)
        if not alike:
            surprises.append(surprise)
        elif times >= WORTH:
            better = max(better, surprise)
        share = max(share, times)
    return _Beyond(surprises, better, share)


def _contest(chance: Chance, best: Pose, others: list[Pose], loss: Loss) -> Contest:
    pairs = chance.pairs
    own = survey(pairs, best, loss, 1.0)
    level, tests = chance(best, own.rows), chance.log10_tests
    symmetry: _Symmetry | None = None
    rivals = []
    for pose in others:
        if _same_there(pairs, own, pose):
            continue
        found = survey(pairs, pose, loss, 1.0)
        alike = found.saving >= RELATED * own.saving
        if alike:
            symmetry = symmetry or _Symmetry(pairs, own)
            alike = symmetry.relates(pose)
        rivals.append(Rival(pose, found.saving, found.num_inliers, chance(pose, found.rows), alike))
    significance = standing(level, [rival.level for rival in rivals if not rival.related], tests)
    outcome = Contest(pairs, rivals, significance, [], best, level, own.saving, tests, chance.places(own.rows))
    if significance > SIGNIFICANT:
        return outcome
    return replace(outcome, meant=[rival for rival in rivals if _close(outcome, rival)])


def _same_there(pairs: Pairs, best: Surveyed, other: Pose) -> bool:
    """Whether another pose puts every pair that agrees with the best where that does, up to three noise bounds.

    It differs where nothing tells, such as by a turn about the line on which they lie: that is no rival, but a part of
    the pose that is not determined.
    """
    return len(best.rows) > 0 and _share_there(pairs, best, other) == 1.0


def _share_there(pairs: Pairs, best: Surveyed, other: Pose) -> float:
    """The share of the pairs that agree with the best which another pose puts where that does."""
    if len(best.rows) == 0:
        return 0.0
    ways = pairs.x[best.rows] @ (best.pose.rotation - other.rotation).T + (best.pose.translation - other.translation)
    reach = SAME * take(pairs.xi, best.rows)
    return float(np.mean(np.einsum("ij,ij->i", ways, ways) <= reach * reach))


def _close(found: Contest, rival: Rival) -> bool:
    """Whether a rival may be meant just as well."""
    if found.significance_of(rival) > SIGNIFICANT:
        return False
    if rival.related:
        return rival.saving >= RELATED * found.saving
    surprising = found.log10_tests - rival.level >= CLOSE * (found.log10_tests - found.level)
    return surprising and rival.saving >= CLOSE * found.saving


class _Symmetry:
    """Tells whether a motion leaves both clouds as they are, where the best pose is supported."""

    def __init__(self, pairs: Pairs, best: Surveyed) -> None:
        rows = best.rows[spread_rows(len(best.rows), SUPPORT)]
        self.best = best.pose
        self.source = _Cloud(pairs.x, pairs.x[rows], pairs.typical_bound)
        self.target = _Cloud(pairs.y, pairs.y[rows], pairs.typical_bound)

    def relates(self, other: Pose) -> bool:
        back = self.best.inverse
        return self.source.kept(back.after(other)) >= ONTO_ITSELF and self.target.kept(other.after(back)) >= ONTO_ITSELF


class _Cloud:
    def __init__(self, points: FloatArray, support: FloatArray, bound: float) -> None:
        from scipy.spatial import cKDTree  # half of what importing all of `register` would take

        points = points[spread_rows(len(points), CLOUD)]
        self.tree, self.support = cKDTree(points), support
        self.reach = bound
        if len(support) < 2:
            self.anywhere = 1.0
            return
        nearest = np.asarray(self.tree.query(support, k=[min(3, len(points))])[0])
        spacing = float(np.median(nearest))
        self.reach = max(bound, 1.5 * spacing)
        low, high = support.min(axis=0), support.max(axis=0)
        places = np.random.default_rng(0).uniform(low, high, (SUPPORT, 3))
        self.anywhere = self._share(places)

    def kept(self, motion: Pose) -> float:
        """The share of the support that lands on the cloud, beyond that of points anywhere in its box."""
        if self.anywhere > 0.9:
            return 0.0
        return (self._share(motion.apply(self.support)) - self.anywhere) / (1.0 - self.anywhere)

    def _share(self, places: FloatArray) -> float:
        return float(np.mean(np.isfinite(self.tree.query(places, distance_upper_bound=self.reach)[0])))
