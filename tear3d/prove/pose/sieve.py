"""What lengths leave of a lot: all pairs looked at together, or in parts (mathematics.md, section 9).

Nothing is returned unless everything was looked at. Every step says for itself whether it was done: the limits may be
over and not be over later, when what took so long turns out to have been compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.crew import Crew
from tear3d.prove.bounds.lengths import WORD, Lot, find_company, find_followers, find_friends
from tear3d.prove.pose.lots import take_lot, units

SIZES = (1_000, 1_500, 2_200, 3_200, 4_700, 7_000, 10_000, 15_000, 24_000)
"""Sizes of parts (free choice)."""
PIECE = 20_000_000
"""Words and lengths between two looks at the clock (free choice)."""

Item = TypeVar("Item")


def left_of(lot: Lot, size: int, limit: float, crew: Crew[None]) -> NDArray[np.int64] | None:
    """The pairs that are left, in order, by parts of about this size; None when the time is over."""
    n = lot.xi.size
    number = max(n // size, -(-n // SIZES[-1])) if n > SIZES[1] else 1
    if number == 1:
        return _alone(lot, units(limit, lot), crew)
    parts = [np.sort(part) for part in np.array_split(np.random.default_rng(1).permutation(n), number)]
    most = units(limit / number, lot)
    cores = [np.empty(0, np.int64)] * number

    def find_core(p: int) -> bool:
        own = take_lot(lot, parts[p])
        friends, left = no_friends(own), np.zeros(len(parts[p]), np.uint8)
        for start, stop in _pieces(len(left), PIECE // len(left)):
            if crew.limits.over():
                return False
            find_friends(own, start, stop, friends)
        for start, stop in _few_pivots(len(left)):
            if crew.limits.over():
                return False
            find_company(own, friends, np.arange(start, stop), most, left)
        cores[p] = parts[p][left != 0]
        return True

    if not _all_done(find_core, range(number), crew):
        return None
    return followers_of(lot, cores, most, crew)


def followers_of(lot: Lot, cores: list[NDArray[np.int64]], most: int, crew: Crew[None]) -> NDArray[np.int64] | None:
    """The pairs that agree in length with more than `most` units of what is left of some part."""
    n, together = lot.xi.size, np.concatenate(cores)
    middle, ends = take_lot(lot, together), np.cumsum([len(core) for core in cores])
    left = np.zeros(n, np.uint8)

    def follow(piece: tuple[int, int]) -> bool:
        find_followers(lot, *piece, middle, ends, most, left)
        return True

    return np.flatnonzero(left) if _all_done(follow, _pieces(n, PIECE // max(1, len(together))), crew) else None


def friends_of(lot: Lot, crew: Crew[None]) -> NDArray[np.uint64] | None:
    """Who agrees in length with whom, a bit each; None when the time is over."""
    n = lot.xi.size
    friends = no_friends(lot)

    def find(piece: tuple[int, int]) -> bool:
        find_friends(lot, *piece, friends)
        return True

    return friends if _all_done(find, _pieces(n, PIECE // n), crew) else None


def no_friends(lot: Lot) -> NDArray[np.uint64]:
    n = lot.xi.size
    return np.zeros((n, -(-n // WORD)), np.uint64)


def _alone(lot: Lot, most: int, crew: Crew[None]) -> NDArray[np.int64] | None:
    """What is left when all pairs are looked at together."""
    n = lot.xi.size
    friends = friends_of(lot, crew)
    if friends is None:
        return None
    left = np.zeros(n, np.uint8)

    def find(piece: tuple[int, int]) -> bool:
        find_company(lot, friends, np.arange(*piece), most, left)
        return True

    return np.flatnonzero(left) if _all_done(find, _few_pivots(n), crew) else None


def _all_done(step: Callable[[Item], bool], items: Iterable[Item], crew: Crew[None]) -> bool:
    """Whether a step was done for all items, in some order, before the time was over."""

    def in_time(item: Item, _: None) -> bool:
        return not crew.limits.over() and step(item)

    return all(crew.map(in_time, items))


def _pieces(n: int, step: int) -> list[tuple[int, int]]:
    step = max(1, step)
    return [(start, min(n, start + step)) for start in range(0, n, step)]


def _few_pivots(n: int) -> list[tuple[int, int]]:
    """Pivots between two looks at the clock: each may look at the friends of many pairs."""
    return _pieces(n, max(8, PIECE // n // 100))
