"""Which of the motions that were peeled stand out from chance.

A motion is compared with the poses that were found besides it, among the pairs that no other accepted motion explains:
another object is no sign of how far chance goes. So the weakest is judged first, among the pairs that those before it
leave; one that is accepted is no rival of the stronger ones, nor are its pairs among those they are judged by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tear3d.find.search import Search
from tear3d.instances.peel import Motion, alike, asked, left_by, same_as
from tear3d.judge.chance import Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.judge.standing import standing
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose


class Peers:
    """A jury for a pose that has peers: motions that were accepted, and are no rivals."""

    def __init__(self, pairs: Pairs, accepted: Sequence[Motion], dropped: Sequence[Motion]) -> None:
        self.pairs, self.accepted = pairs, [motion.pose for motion in accepted]
        self.rivals = [motion.pose for motion in dropped]
        self.rivals += [pose for motion in (*accepted, *dropped) for pose in motion.rivals]

    def __call__(self, search: Search, chance: Chance, pose: Pose, others: list[Pose]) -> Contest:
        """Among the pairs that no peer explains; with all that was found but the peers."""
        pairs = self.pairs
        own = same_as(pairs, self.accepted, pose)
        peers = [peer for number, peer in enumerate(self.accepted) if number != own]
        if peers:
            chance = Chance(pairs.take(left_by(pairs, peers, [pose])), chance.seed)
        found = [*others, *self.rivals]
        rivals = [other for other in found if not any(alike(pairs, peer, other) for peer in peers)]
        return contest(chance, pose, search.others(pose, rivals), search.options.the_loss)


def accepted(pairs: Pairs, motions: list[Motion]) -> list[Motion]:
    """Those that stand out from all but each other, in their order."""
    taken: list[Motion] = []
    for number in reversed(range(len(motions))):
        if significance_of(pairs, motions, number, taken) <= asked(number):
            taken.insert(0, motions[number])
    return taken


def significance_of(pairs: Pairs, motions: Sequence[Motion], number: int, taken: Sequence[Motion] = ()) -> float:
    """Of a motion among the pairs that those before it leave, where some of those after it were taken; infinite when it
    is but what is left of one before it."""
    own, before = motions[number], [motion.pose for motion in motions[:number]]
    some = pairs.take(left_by(pairs, before))
    if any(alike(some, own.pose, pose) for pose in before):
        return math.inf
    # The first, if there is no other, is judged as `solve` does.
    after = without(motions[number + 1 :], taken) if number or taken else ()
    compared = Peers(some, taken, after)(own.search, Chance(some), own.pose, own.rivals)
    if number == 0:
        return compared.significance
    # What was peeled after it shares no pair with it: no symmetry excuses that.
    rest = [compared.log10_tests - motion.surprise for motion in after]
    return max(compared.significance, standing(compared.level, rest, compared.log10_tests))


def without(motions: Sequence[Motion], others: Sequence[Motion]) -> list[Motion]:
    """Those that are not among others."""
    return [motion for motion in motions if not any(motion is other for other in others)]
