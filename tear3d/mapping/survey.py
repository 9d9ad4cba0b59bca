"""The pairs of scans that were tried so far, and which come next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tear3d.clouds.verdict import ALONE_FIT
from tear3d.mapping.graph import Edge, Graph
from tear3d.mapping.neighbours import BATCH, Foreseen, Pair, by_distance_in_order, by_order
from tear3d.mapping.pairwise import How, Tried, register_pairs
from tear3d.mapping.scans import Scans
from tear3d.mapping.solve import Solution, solve
from tear3d.mapping.trees import parts


class MapProgress(NamedTuple):
    """How far a step of `build_map` is."""

    stage: str
    """"read", "order", "bridge", "coarse", "pair" or "loop"."""
    done: int
    total: int
    """Scans to read, or pairs to try in this round."""
    text: str = ""
    """What came of the last pair."""


@dataclass
class Survey:
    """Tries pairs and remembers them all."""

    scans: Scans
    how: How
    max_tries: int | None
    say: Callable[[MapProgress], object]
    tried: dict[Pair, Tried] = field(default_factory=dict)
    spent: int = 0
    left_out: set[Pair] = field(default_factory=set)
    """Pairs that the limit of tries left untried."""

    @property
    def count(self) -> int:
        return len(self.scans)

    @property
    def confirmed(self) -> list[Tried]:
        return [each for each in self.tried.values() if each.confirmed]

    def graph(self) -> Graph:
        """Of the pairs that the clouds confirm."""
        edges = [
            Edge(each.i, each.j, each.found.transformation, each.found.covariance)
            for each in self.confirmed
            if each.found is not None
        ]
        return Graph.of(edges, self.scans.centres, self.scans.radii, self.how.noise_bound)

    def solved(self, settled: bool = False) -> tuple[Graph, Solution]:
        graph = self.graph()
        return graph, solve(graph, seed=self.how.seed, settled=settled)

    def in_order(self, reach: int) -> None:
        """Neighbours, and where the chain is broken others up to twice as far."""
        self._try(by_order(self.count, reach), "order")
        for step in range(reach + 1, 2 * reach + 1):
            pairs = [(k, k + step) for k in range(self.count - step)]
            self._try(self._apart(pairs), "bridge")

    def without_order(self) -> None:
        """A coarse look at all pairs that are not joined yet, then those it liked, the best first."""
        promising: list[tuple[float, Pair]] = []
        for pairs in by_distance_in_order(self.count):
            looked = self._look(self._apart(pairs))
            self._try([(each.i, each.j) for each in looked if each.confirmed], "pair")
            promising += [
                (-each.found.fit, (each.i, each.j))
                for each in looked
                if each.found is not None and not each.confirmed and each.found.fit >= ALONE_FIT
            ]
        rest = [pair for _, pair in sorted(promising)]
        while rest:
            rest = self._apart(rest)
            self._try(rest[:BATCH], "pair")
            rest = rest[BATCH:]

    def close_loops(self) -> None:
        """Pairs that overlap as far as the poses tell, until there are no more."""
        while True:
            graph, solution = self.solved()
            foreseen = Foreseen(graph, solution, self.scans.sketch, self.how.voxel_size)
            pairs = foreseen.loops(set(self.tried) | self.left_out)
            if not pairs:
                return
            self._try(pairs, "loop")

    def _apart(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those between scans that no confirmed edges join yet."""
        edges = self.confirmed
        label = np.empty(self.count, np.int64)
        ends = np.array([(each.i, each.j) for each in edges], np.int64).reshape(-1, 2)
        for number, scans in enumerate(parts(self.count, *ends.T)):
            label[scans] = number
        return [(i, j) for i, j in pairs if label[i] != label[j] and (i, j) not in self.tried]

    def _try(self, pairs: list[Pair], stage: str) -> None:
        for each in self._registered(pairs, stage):
            self.tried[each.i, each.j] = each

    def _look(self, pairs: list[Pair]) -> list[Tried]:
        return list(self._registered(pairs, "coarse"))

    def _registered(self, pairs: list[Pair], stage: str) -> Iterable[Tried]:
        room = len(pairs) if self.max_tries is None else self.max_tries - self.spent
        self.left_out.update(pairs[room:])
        pairs = pairs[:room]
        if not pairs:
            return
        self.spent += len(pairs)
        self.say(MapProgress(stage, 0, len(pairs)))
        tries = register_pairs(self.scans, pairs, self.how, stage, coarse=stage == "coarse")
        for number, each in enumerate(tries, 1):
            names = f"{self.scans.given.names[each.j]} to {self.scans.given.names[each.i]}"
            verdict = each.found.verdict if each.found is not None else "failed"
            self.say(MapProgress(stage, number, len(pairs), f"{names}: {verdict}"))
            yield each
