"""Cells of poses bounded by passes over all pairs, until the pairs that matter in what is left fit into memory."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.problem.limits import Limits
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.tallies import count_votes, mark_voters
from tear3d.prove.bounds.voters import make_block
from tear3d.prove.certificate import POSE
from tear3d.prove.pose.cells import AGAIN
from tear3d.prove.pose.nodes import (
    EVERYWHERE,
    FACE,
    HIGH,
    LIST,
    LOW,
    everywhere,
    is_ready,
    no_nodes,
    roots,
    sides_to_halve,
)
from tear3d.prove.stage import BOUND
from tear3d.stream.families import Family, find_families
from tear3d.stream.local import Runner
from tear3d.stream.scene import Scene
from tear3d.stream.shares import FEWEST_CELLS, MOST_CELLS, VOTE_BYTES
from tear3d.stream.votes import Tally, Votes

log = logging.getLogger("tear3d")

PROBES = 32_768
"""Pairs that tell how many matter in a cell."""
SPARE = 0.7
"""Pairs are gathered when a sample says that they take no more than this share of the room (free choice)."""
LOOKS = 2
"""A cell whose box of t shrinks is looked at so often before it is split (free choice)."""


class Cells:
    """The cells that are left, and the bound of what is closed."""

    def __init__(
        self,
        runner: Runner,
        scene: Scene,
        sample: Pairs,
        savings: tuple[float, float],
        limits: Limits,
        room: tuple[int, int],
    ) -> None:
        """`savings` are what the pose saves and what is of no interest yet; `room` is that for votes, in bytes in a
        thread, and for pairs that matter."""
        self.runner, self.scene, self.limits = runner, scene, limits
        self.saving, self.threshold = savings
        self.together = max(FEWEST_CELLS, min(MOST_CELLS, room[0] // VOTE_BYTES))
        self.most_pairs = room[1]
        probes = sample.take(spread_rows(len(sample), PROBES))
        self.probes = packed = scene.pack(probes)
        self._block = make_block()
        self.open = everywhere(packed.low, packed.high, scene.everybody.savings.total * (1.0 + 1e-9))[None]
        self.looks = np.zeros(len(self.open), np.int64)
        self.closed, self.visited = 0.0, 0
        self.history: list[tuple[float, float]] = []

    def bound(self) -> float:
        """Of all savings in what is closed and what is left."""
        return max(self.closed, float(self.open[:, BOUND].max(initial=0.0)))

    def run(self, save: Callable[[], object]) -> list[FloatArray]:
        """Passes until what is left can be searched in memory, some cells at a time: which with which.

        After every pass `save` is called.
        """
        while len(self.open) and self.limits.exceeded() is None:
            if self.open[0, FACE] == EVERYWHERE:
                if not self.step():
                    break
                save()
                continue
            chunks = self.chunks()
            if chunks is None:
                break
            if sum(map(len, chunks)) == len(self.open) and len(chunks) <= max(1, len(self.open) // self.together):
                return chunks
            if not self.step():
                return chunks
            save()
        return []

    def chunks(self) -> list[FloatArray] | None:
        """Cells in order, as many together as have pairs that fit into memory; without those that have more alone.

        None when the limits are over.
        """
        found: list[list[FloatArray]] = []
        most = SPARE * self.most_pairs / self.runner.num_pairs
        union: NDArray[np.bool_] = np.zeros(0, bool)
        for node in self.open[np.lexsort(self.open[:, FACE : LOW + 3].T[::-1])]:  # neighbours share their pairs
            if self.limits.over():
                return None
            mask = self._touching(node)
            if mask.mean() > most:
                continue
            if not found or (union | mask).mean() > most:
                found.append([])
                union = mask
            else:
                union = union | mask
            found[-1].append(node)
        return [np.array(nodes) for nodes in found]

    def most_that_matter(self) -> int:
        """The largest number of pairs that matter in one of the cells that are left, by a sample."""
        return math.ceil(max(map(self._share, self.open), default=0.0) * self.runner.num_pairs)

    def families(self, nodes: FloatArray) -> Family:
        """Families of nodes, by how many pairs of the sample matter between them."""
        return find_families(nodes, self._share)

    def step(self) -> bool:
        """One pass for the cells with the largest bounds; False when nothing more is to be had from passes."""
        order = np.argsort(-self.open[:, BOUND], kind="stable")
        small = np.array([node[FACE] != EVERYWHERE and is_ready(node, *self._sizes()) for node in self.open[order]])
        chosen = order[~small][: self.together]
        if not len(chosen):
            return False
        nodes, seen = self.open[chosen], self.looks[chosen]
        work = Votes(self.scene, nodes, self.families(nodes), bool(seen.min() > 0))
        tally: Tally | None = self.runner.run(work, self.limits, self._report)
        if tally is None:
            return False
        self.visited += len(nodes)
        self.limits.cells += len(nodes)
        left, looks = [np.delete(self.open, chosen, axis=0)], [np.delete(self.looks, chosen)]
        for node, votes, before in zip(nodes, tally.votes, seen.tolist(), strict=True):
            more, again = self._counted(node, votes, before)
            left.append(more)
            looks.append(np.full(len(more), again))
        self.open, self.looks = np.concatenate(left), np.concatenate(looks)
        self.history.append((self.limits.seconds, self.bound()))
        log.info("pass %d: %d cells left, bound %.6g", self.runner.passes, len(self.open), self.bound())
        return True

    def _share(self, node: FloatArray) -> float:
        """Of the pairs that matter in a cell, by a sample."""
        return float(self._touching(node).mean())

    def _touching(self, node: FloatArray) -> NDArray[np.bool_]:
        """Which of the sample matter in a cell."""
        mask = np.zeros(self.probes.size, np.uint8)
        everybody = self.probes.voters, (0, self.probes.size)
        mark_voters(*everybody, node[FACE:LIST], self.probes.ballot.margin, self._block, mask)
        return mask.astype(bool)

    def _sizes(self) -> tuple[float, float]:
        ballot = self.probes.ballot
        return ballot.xi + ballot.margin, ballot.radius

    def _counted(self, node: FloatArray, votes: Any, seen: int) -> tuple[FloatArray, int]:
        """What is left of a cell, and how often that was looked at."""
        count = count_votes(node[FACE:LIST], self.threshold, self.probes.ballot, votes)
        self.closed = max(self.closed, min(float(node[BOUND]), count.cut))
        node[BOUND] = min(node[BOUND], count.bound)
        if node[BOUND] <= self.threshold:
            self.closed = max(self.closed, float(node[BOUND]))
            return no_nodes(), 0
        node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = count.low, count.high
        if count.share < AGAIN and seen + 1 < LOOKS:
            return node[None], seen + 1
        if node[FACE] == EVERYWHERE:
            return roots(count.low, count.high, node[BOUND]), 0
        if is_ready(node, *self._sizes()):
            return node[None], seen + 1
        return _split(node, sides_to_halve(node, *self._sizes(), self.threshold)), 0

    def _report(self, done: float) -> None:
        self.limits.report(POSE, self.saving, max(self.saving, self.bound()), done)


def _split(node: FloatArray, halve: tuple[bool, bool, bool]) -> FloatArray:
    """A cell as cells half as large along some sides."""
    found = node[None]
    for j, wanted in enumerate(halve):
        if wanted:
            middle = 0.5 * (node[LOW + j] + node[HIGH + j])
            lower, upper = found.copy(), found.copy()
            lower[:, HIGH + j], upper[:, LOW + j] = middle, middle
            found = np.concatenate([lower, upper])
    return found
