"""Small problems whose pairs vote in groups, and with copies between grids, as only large ones do otherwise; and which
cells were taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from unittest import mock

import numpy as np

from tear3d.prove import whole
from tear3d.prove.bounds import groups
from tear3d.prove.bounds.votes import make_booth, vote
from tear3d.prove.domains.rotations import cell_frame
from tear3d.prove.pose import points
from tear3d.prove.pose import run as run_module
from tear3d.prove.pose.cells import search_cells
from tear3d.prove.pose.nodes import HIGH, LOW
from tear3d.prove.pose.stage import WholePose

NEVER = 10**9


class Choices(NamedTuple):
    """From how many pairs on they vote in groups of about so many, and from how many on one grid at a time: choices
    that are part of no bound."""

    groups: int = NEVER
    size: int = 1
    many: int = NEVER


def some_choices(rng) -> Choices:
    """Groups in two problems of three, copies between grids in two of three."""
    return Choices(int(rng.choice([NEVER, 4, 20])), int(rng.choice([2, 8, 30])), int(rng.choice([NEVER, 0, 15])))


@contextmanager
def grouped(choices: Choices) -> Iterator[list[WholePose]]:
    """While the block runs pairs are packed like that; the stages of whole proofs are noted."""
    noted: list[WholePose] = []

    def make_and_note(*args, **options):
        noted.append(WholePose(*args, **options))
        return noted[-1]

    make_and_note.prune = WholePose.prune
    with ExitStack() as stack:
        stack.enter_context(mock.patch.multiple(groups, MANY=choices.groups, PER_GROUP=choices.size))
        stack.enter_context(mock.patch.multiple(points, MANY=choices.many))
        stack.enter_context(mock.patch.multiple(whole, WholePose=make_and_note))
        yield noted


def groups_matter(packed, rng, tries=8) -> bool:
    """Whether groups change the votes on some of a few cells around the incumbent."""
    if len(packed.groups.centres) < 2:
        return False
    booths, span = (make_booth(), make_booth(groups=True)), (0, packed.size)
    box = tuple(packed.low.tolist()), tuple(packed.high.tolist())
    for half in 10.0 ** rng.uniform(-2.0, -0.5, tries):
        frame = cell_frame(0, (-half,) * 3, (half,) * 3)
        rule = packed.voters, packed.groups, span, frame, box, 0, 0.3 * packed.ceiling, packed.ballot
        if vote(*rule, booths[0]) != vote(*rule, booths[1]):
            return True
    return False


def search_and_look(voters, groups, ballot, allowed, threshold, *rest):
    """`search_cells`, and the most parts that a cell was seen to be taken apart into: neighbours on the stack with the
    same rotations. Some are overwritten before they are seen."""
    state, scratch = rest[:2]
    scratch.nodes[state.top :] = np.nan
    state = search_cells(voters, groups, ballot, allowed, threshold, *rest)
    same_g, same_t = (
        np.all(scratch.nodes[1:, columns] == scratch.nodes[:-1, columns], axis=1)
        for columns in ([*range(a, a + 3), *range(b, b + 3)] for a, b in ((LOW, HIGH), (LOW + 3, HIGH + 3)))
    )
    most = parts = 1
    for apart in (same_g & ~same_t).tolist():
        parts = parts + 1 if apart else 1
        most = max(most, parts)
    return state, most


@contextmanager
def looking_for_parts() -> Iterator[list[int]]:
    """While the block runs whole proofs note how many parts cells were taken apart into, where they were."""
    noted: list[int] = []

    def search_and_note(*args):
        state, parts = search_and_look(*args)
        if parts > 1:
            noted.append(parts)
        return state

    with mock.patch.multiple(run_module, search_cells=search_and_note):
        yield noted
