"""From a guess of the noise bound to the one that pairs are registered with: both must lead to the same pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from tear3d.find.search import Search
from tear3d.judge.bound import NoiseEstimate
from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.standing import standing
from tear3d.noise.curve import RIVALS, sensitivity
from tear3d.noise.estimate import Guess, guess
from tear3d.noise.ladder import Ladder
from tear3d.problem.objective import saving_and_count
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

STEPS = 4
"""Noise bounds that are tried on the way from one to half of it; free choice. Most need no search."""


class Settled(NamedTuple):
    """All that a registration can go on from."""

    estimate: NoiseEstimate
    pairs: Pairs
    search: Search
    chosen: Pose | None
    """The pose to start from, if not the best that the search found."""


def settle(ladder: Ladder, with_bound: Callable[[float], Pairs]) -> Settled:
    """The noise bound, and what a search finds with it.

    Parameters
    ----------
    ladder : Ladder
    with_bound : callable
        Makes the pairs of the problem with a noise bound in the units given.
    """
    known = guess(ladder)
    for bound in _bounds(known):
        last = bound == known.anchor or not known.trusted or ladder.limits.over()
        rung = ladder.at(bound)
        kept = rung.climb(known.pose, ladder.options, ladder.limits)
        if standing(kept.level, [], kept.log10_tests) > SIGNIFICANT and not last:
            continue
        pairs = with_bound(bound * known.unit)
        whole = ladder.over(pairs)
        search = whole.explored(pairs, ladder.options, ladder.limits)
        best = whole.best(search)
        chosen = None
        if not rung.same(_inside(ladder, pairs, best), known.pose):
            own = _outside(ladder, pairs, kept.pose)
            if _saves_more(pairs, own, best, search):
                best = chosen = own
            elif not last:
                continue
        compared = whole.contest(best, search.rivals(best), ladder.options.the_loss)
        if last or compared.significance <= SIGNIFICANT:
            break
    if compared.significance > SIGNIFICANT:
        known = known._replace(significance=compared.significance, doubt=known.doubt or _lost(ladder))
    return Settled(_estimate(ladder, known, bound, search, best), pairs, search, chosen)


def _lost(ladder: Ladder) -> str:
    """What is to be said of a pose that stood out until all was looked at."""
    if ladder.limits.over():
        return "the search was ended before a pose was found that stands out from chance among all pairs"
    return "a pose that stands out in searches at some does not when all pairs are searched to the end"


def _bounds(known: Guess) -> Iterator[float]:
    """Noise bounds to try: what was measured, then ever nearer to where the pose is least likely by chance."""
    yield known.bound
    if known.trusted and known.bound != known.anchor:
        steps = math.ceil(abs(math.log2(known.anchor / known.bound)) * STEPS)
        for step in range(1, steps):
            yield known.bound * (known.anchor / known.bound) ** (step / steps)
        yield known.anchor


def _saves_more(pairs: Pairs, pose: Pose, other: Pose, search: Search) -> bool:
    """Whether a pose that the search has missed saves more than what it has found."""
    loss = search.options.the_loss
    return saving_and_count(pairs, pose, loss)[0] > saving_and_count(pairs, other, loss)[0]


def _estimate(ladder: Ladder, known: Guess, bound: float, search: Search, best: Pose) -> NoiseEstimate:
    pairs = search.pairs
    rivals = [_inside(ladder, pairs, pose) for pose in search.rivals(best)[:RIVALS]]
    curve = sensitivity(ladder, pairs, bound, _inside(ladder, pairs, best), rivals)
    return replace(known.words(bound), curve=curve)


def _inside(ladder: Ladder, pairs: Pairs, pose: Pose) -> Pose:
    return ladder.sample.frame.inside(pairs.frame.outside(pose))


def _outside(ladder: Ladder, pairs: Pairs, pose: Pose) -> Pose:
    return pairs.frame.inside(ladder.sample.frame.outside(pose))
