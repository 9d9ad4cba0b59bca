"""Pairs that are in no pose which saves much, found by lengths alone and left out (mathematics.md, section 9).

Few pairs are looked at all together. Many are cut into parts at random: a pose that saves more than T saves more than
T / K in one of K parts. What is left of that part is a core, and the pairs of all other parts must agree in length
with so much of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Scored, inlier_mask
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.lengths import Lot
from tear3d.prove.certificate import POSE
from tear3d.prove.pose.lots import make_lot, take_lot
from tear3d.prove.pose.sieve import SIZES, left_of
from tear3d.prove.pose.trials import MOST_WORK, plan

FEWEST_PAIRS, MOST_PAIRS = 100, 400_000
FEWEST_OF_ALL, FEW_PAIRS = 12, 500
"""Between these all pairs are looked at together, in a millisecond: nothing needs to be planned (free choices)."""
WORTH_MORE, FEW_MORE = 0.9, 3.0
"""Sifted again and again, in larger parts when more than this share is left, until hardly more than agree with the
incumbent are."""
MOST_INLIERS = 0.25
"""With a larger share of inliers nothing is to be gained. All free choices, part of no bound."""


class Cells(NamedTuple):
    """Where poses can be: rotations from that of a pose on, and a pair that must come near its place."""

    pose: Pose
    found: NDArray[np.int64]
    """Number of the pair, face, and three numbers of g, of ..."""
    level: int
    """... 3·2^level cells a side."""


class Sifted(NamedTuple):
    """What is left of some pairs, and of all poses."""

    index: NDArray[np.int64]
    limit: float
    """A pose that saves more than this saves nothing with the pairs left out, ..."""
    cells: Cells | None = None
    """... and is in one of these cells, if they are known; pairs are numbered as in the index."""


def _few(lot: Lot, wanted: Sequence[float], limits: Limits) -> Sifted | None:
    """By the lowest limit for which some of few pairs go."""
    crew: Crew[None]
    with Crew(1, limits) as crew:
        for limit in wanted:
            left = left_of(lot, len(lot.xi), limit, crew)
            if left is None:
                return None
            if len(left) <= WORTH_MORE * len(lot.xi):
                return Sifted(left, limit)
    return None


def sift(
    pairs: Pairs,
    loss: Loss,
    known: Scored,
    shares: Sequence[float],
    limits: Limits,
    threads: int,
    most_work: float = np.inf,
    few: int = FEW_PAIRS,
) -> Sifted | None:
    """Leave out pairs that are in no pose which saves more than some share of what a known pose saves.

    Parameters
    ----------
    pairs : Pairs
        All with w ξ > 0.
    loss : Loss
    known : Scored
        A good pose: the pairs that agree with it are not expected to go.
    shares : sequence of float
        In ascending order; the lowest for which that costs little is taken.
    limits : Limits
    threads : int
        The result is the same for any number.
    most_work : float
        Words and lengths to look at in the first round, at most.
    few : int
        So many pairs are looked at once, all together.

    Returns
    -------
    Sifted or None
        None when it would not help, or the time is over.
    """
    n = len(pairs)
    wanted = [share * known.saving for share in shares]
    if not FEWEST_OF_ALL <= n <= MOST_PAIRS or not wanted[0] > 0.0:
        return None
    lot = make_lot(pairs, loss)
    if n <= few:
        return None if lot is None else _few(lot, wanted, limits)
    agree = inlier_mask(pairs, known.pose)
    if lot is None or np.count_nonzero(agree) > MOST_INLIERS * n:
        return None
    crew: Crew[None]
    everything = pairs.total(loss)
    with Crew(threads, limits, tick=lambda: limits.report(POSE, known.saving, everything, 0.0)) as crew:
        chosen = plan(lot, np.random.default_rng(0).permutation(n), agree, wanted, crew, most_work)
        if chosen is None or chosen.work > most_work:
            return None
        index, expected = np.arange(n), np.count_nonzero(agree)
        while True:
            left = left_of(lot, chosen.size, chosen.limit, crew)
            if left is None:
                return None
            before, index = len(index), index[left]
            if len(index) < max(FEWEST_PAIRS, FEW_MORE * expected):
                return Sifted(index, chosen.limit)
            if len(index) > WORTH_MORE * before:
                larger = [size for size in SIZES if chosen.size < size <= min(before, MOST_WORK // before)]
                if not larger:
                    return Sifted(index, chosen.limit)
                chosen = chosen._replace(size=larger[0])
            lot = take_lot(lot, left)
