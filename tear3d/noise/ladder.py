"""The pose that is least likely by chance, at any noise bound.

The number of false alarms (`judge.chance`) says how likely a consensus is by chance whatever the noise bound is, so
that it compares poses found at different ones. With the right bound it is smallest: at half of it pairs are lost, at
twice as much eight times as many agree by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tear3d.find.search import Search
from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.similar import Triples
from tear3d.noise.rungs import RUNGS, STEP, TOP, Rung, Seen
from tear3d.noise.similar import SimilarRung
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs

EFFORTS = (1e7, 8e7, 6.4e8)
"""Lengths that a search compares at one rung, about: tens of milliseconds. Where that finds nothing that leaves no
doubt, eight times as much, on twice as many pairs; and once more, ... (free choices)"""
HOPEFUL = 4
"""... at so many rungs that are most surprising. Free choice."""
DECISIVE = -20.0
"""A level at which no more effort is spent, if the pose stands out among the others, too. Free choice."""
PAST = 2
"""Rungs below the best that are searched, too. Free choice."""
TRACKS = 4
"""Poses that are followed through all rungs. Free choice."""


@dataclass(frozen=True, eq=False)
class Found:
    """What was found at one rung."""

    ladder: Ladder
    rung: int
    seen: Seen
    search: Search

    @cached_property
    def significance(self) -> float:
        """Of the pose among all others at this rung."""
        return self.ladder.rung(self.rung).significance(self.seen.pose, self.search)

    @property
    def surprise(self) -> float:
        """How far the level of the pose lies below that of one which nothing bears out."""
        return self.seen.log10_tests - self.seen.level


class Track:
    """A pose that is followed from rung to rung, from where it was found."""

    def __init__(self, ladder: Ladder, found: Found, last: int) -> None:
        self.seen: dict[int, Seen] = {found.rung: found.seen}
        for step in (1, -1):
            before = found.seen
            rung = found.rung + step
            while 0 <= rung <= last and not ladder.limits.over():
                before = ladder.rung(rung).climb(before.pose, ladder.options, ladder.limits)
                self.seen[rung] = before
                rung += step

    @property
    def best(self) -> int:
        """The rung at which it is least likely by chance; of equal ones the lowest noise bound."""
        return min(self.seen, key=lambda rung: (self.seen[rung].level, -rung))


class Ladder:
    """Searches at all rungs, then the poses that they found followed through all of them."""

    def __init__(self, sample: Pairs, options: Options, limits: Limits, lowest: float) -> None:
        self.sample, self.options, self.limits = sample, options, limits
        self.lowest = lowest
        """No rung lies below this noise bound."""
        self._rungs: dict[int, Rung] = {}

    def rung(self, number: int) -> Rung:
        if number not in self._rungs:
            self._rungs[number] = self.at(TOP * STEP**number)
        return self._rungs[number]

    def at(self, bound: float) -> Rung:
        """The sample at a noise bound."""
        pairs, scale = replace(self.sample, xi=np.array([bound])), self.options.scale
        return Rung(pairs) if scale is None else SimilarRung(pairs, scale, self._triples)

    def over(self, pairs: Pairs) -> Rung:
        """Pairs at their own noise bound."""
        return Rung(pairs) if self.options.scale is None else SimilarRung(pairs, self.options.scale)

    @cached_property
    def _triples(self) -> Triples:
        return Triples(self.sample)

    @property
    def count(self) -> int:
        """Rungs that are searched."""
        return max(1, sum(TOP * STEP**k >= self.lowest for k in range(RUNGS)))

    def found(self) -> list[Found]:
        """The best of each rung, the least likely by chance first; there is at least one."""
        best: dict[int, Found] = {}
        numbers = list(range(self.count))
        for effort in EFFORTS:
            if effort == EFFORTS[-1]:
                unseen = [number for number in best if self._more(number, effort)]
                numbers = sorted(unseen, key=lambda number: -best[number].surprise)[:HOPEFUL]
            for number in sorted(numbers):
                if best and (self.limits.over() or self._hopeless(best.get(number - 1))):
                    break
                self._search(number, effort, best)
                if _past(best, number):
                    break
            if _decisive(min(best.values(), key=lambda found: found.seen.level)) or self.limits.over():
                break
        return sorted(best.values(), key=lambda found: found.seen.level)

    def _hopeless(self, above: Found | None) -> bool:
        """Whether rungs below one need no search."""
        return above is not None and self.rung(above.rung).rules_out_finer(above.search)

    def _more(self, number: int, effort: float) -> bool:
        """Whether a search with this effort looks at more than the one before."""
        rung = self.rung(number)
        return rung.share(effort) != rung.share(effort / 8.0)

    def _search(self, number: int, effort: float, best: dict[int, Found]) -> None:
        if number in best and not self._more(number, effort):
            return
        new = Found(self, number, *self.rung(number).search(self.options, self.limits, effort))
        if number not in best or new.seen.level < best[number].seen.level:
            best[number] = new

    def tracks(self, found: list[Found]) -> list[Track]:
        """The distinct poses among those found, followed; the least likely by chance first."""
        last = max(each.rung for each in found)
        tracks: list[Track] = []
        for each in found:
            if self.limits.over() and tracks:
                break
            known = any(
                each.rung in track.seen and self.rung(each.rung).same(track.seen[each.rung].pose, each.seen.pose)
                for track in tracks
            )
            if not known and len(tracks) < TRACKS:
                tracks.append(Track(self, each, last))
        return sorted(tracks, key=lambda track: track.seen[track.best].level)


def _past(best: dict[int, Found], number: int) -> bool:
    """Whether the last rungs were past the best, which leaves no doubt."""
    first = min(best, key=lambda rung: best[rung].seen.level)
    return number >= first + PAST and _decisive(best[first])


def _decisive(found: Found) -> bool:
    return found.seen.level <= DECISIVE and found.significance <= SIGNIFICANT
