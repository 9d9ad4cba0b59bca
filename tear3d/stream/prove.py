"""The proof of a pose over pairs in pieces.

Cells of rotations with boxes of translations are bounded by the votes of all pairs, many cells in one pass; what is
left of them is split, pass by pass, until the pairs that can save anything in some of them fit into memory. From there
on the search is that of pairs in memory, for some cells after the others.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits, relative_gap
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import POSE, Attempt, Proof, StageCertificate
from tear3d.prove.driver import Found, maximise
from tear3d.prove.stage import BOUND, NOTHING
from tear3d.stream.cells import SPARE, Cells
from tear3d.stream.checkpoint import Checkpoint
from tear3d.stream.local import Runner
from tear3d.stream.rest import Rest
from tear3d.stream.scene import Scene
from tear3d.stream.shares import give_back
from tear3d.stream.votes import Gather

log = logging.getLogger("tear3d")

PAIR_BYTES = 128
"""What the search in memory takes for a pair, the pair itself included: 48 + 32, what is copied of it while it is
gathered, and what threads copy. An estimate; `benchmarks.stream` measures the peak of the process."""
BOX_BYTES = 150
"""What every thread takes for a pair of a box: as a point, in copies and as a line."""
AROUND = 1.5
"""So many times the pairs near the pose matter in the largest box (an estimate too)."""


class Room(NamedTuple):
    """What of the memory a proof may take."""

    bytes: int
    """For votes, and after them for pairs that still matter."""
    near: int
    """Pairs near the pose."""

    def threads(self, pairs: int, most: int) -> int:
        """That have room to search some pairs at once, when there are no pieces any more: as much again as `bytes`."""
        left = 2 * self.bytes - pairs * PAIR_BYTES
        return max(1, min(most, left // int(BOX_BYTES * max(1.0, min(pairs, AROUND * self.near)))))


def prove_streamed(
    runner: Runner,
    scene: Scene,
    sample: Pairs,
    start: Scored,
    options: Options,
    limits: Limits,
    room: Room,
    checkpoint: Checkpoint | None = None,
) -> Proof:
    """Search all rotations and translations.

    Parameters
    ----------
    runner : Runner
    scene : Scene
        Around the pose to start from, whose rotation is orthonormal.
    sample : Pairs
        Of the same frame.
    start : Scored
        That pose, and what it saves over all pairs.
    options, limits
    room : Room
    checkpoint : Checkpoint, optional
        Where the search is kept after every pass, and goes on from.
    """
    with limits.timed(POSE):
        savings = start.saving, start.saving * (1.0 + Rest.prune * options.rel_gap)
        cells = Cells(runner, scene, sample, savings, limits, (room.bytes // 8, room.bytes // PAIR_BYTES))
        search = _Search(cells, start, options, room, checkpoint)
        search.run(cells.run(search.save))
        certificate = search.certificate()
    if checkpoint is not None and (certificate.closed or limits.exceeded() is None):
        checkpoint.done()
    return Proof(search.best, (Attempt((certificate,), agrees=True),))


class _Search:
    """The search of what passes leave, some cells after the others."""

    def __init__(
        self, cells: Cells, start: Scored, options: Options, room: Room, checkpoint: Checkpoint | None
    ) -> None:
        self.cells, self.options, self.limits, self.checkpoint = cells, options, cells.limits, checkpoint
        self.room = room
        self.best = start
        self.closed = 0.0
        """The bound of what was searched."""
        self.far = 0.0
        self.visited: list[FloatArray] = []
        self.count = 0
        self.history: list[tuple[float, float, float]] = []
        self.stayed = True
        self._resume()

    def _resume(self) -> None:
        saved = None if self.checkpoint is None else self.checkpoint.load()
        if saved is None:
            return
        cells = self.cells
        cells.open, cells.looks = saved["open"], saved["looks"]
        self.closed, self.far, cells.closed, saving = saved["bounds"].tolist()
        cells.visited, self.count, stayed = saved["counts"].tolist()
        self.stayed = bool(stayed)
        if saving > self.best.saving:
            self.best = Scored(Pose.from_row(saved["best"]), saving)
        log.info("going on from %s: %d cells left", self.checkpoint and self.checkpoint.path, len(cells.open))

    def save(self, nodes: FloatArray | None = None) -> None:
        """Keep where the search is; `nodes`, when they are not all that passes have left."""
        cells = self.cells
        if self.checkpoint is not None:
            left = cells.open if nodes is None else nodes
            self.checkpoint.save(
                open=left,
                looks=cells.looks if nodes is None else np.zeros(len(left), np.int64),
                bounds=np.array([self.closed, self.far, cells.closed, self.best.saving]),
                counts=np.array([cells.visited, self.count, self.stayed]),
                best=self.best.pose.row,
            )

    def run(self, chunks: list[FloatArray]) -> None:
        """Search chunks of cells as long as the limits allow; a chunk that does not fit after all is halved."""
        cells = self.cells
        self.closed, self.far = max(self.closed, cells.closed), max(self.far, cells.closed)
        self.history = [(at, self.best.saving, max(self.best.saving, bound)) for at, bound in cells.history]
        waiting = [*chunks]
        left = _without(cells.open, chunks)
        while waiting and self.limits.exceeded() is None:
            chunk = waiting.pop(0)
            gather = Gather(cells.scene, chunk, cells.families(chunk), cells.most_pairs)
            found = cells.runner.run(gather, self.limits, lambda done: None)
            if found is not None and not found.full:
                log.info("%d pairs matter in %d cells", found.count, len(chunk))
                pairs = found.pairs(cells.scene.frame, cells.runner.num_pairs) if found.count else None
                del found
                give_back()
                others = np.concatenate([left, *waiting])
                self._search(chunk, pairs, others)
                if self.limits.exceeded() is None:  # else the chunk was not searched to its end
                    self.save(others)
            elif found is not None and len(chunk) > 1:
                waiting[:0] = np.array_split(chunk, 2)
            else:
                left = np.concatenate([left, chunk])
        cells.open = np.concatenate([left, *waiting])

    def _search(self, chunk: FloatArray, pairs: Pairs | None, others: FloatArray) -> None:
        """The search in memory, whose bounds are joined with those of all others."""
        if pairs is None:  # nothing can be saved there
            return
        limits, threads = self.limits, self.room.threads(len(pairs), self.options.threads)
        options = replace(self.options, threads=threads)
        stage = Rest(self.cells.scene, pairs, self.best, chunk, options)
        found: Found = maximise(stage, stage.start(), rel_gap=options.rel_gap, limits=limits, threads=options.threads)
        certificate = found.certificate
        if certificate.saving > self.best.saving:
            self.best = Scored(found.solution, certificate.saving)
        self.stayed &= stage.stayed(found.solution)
        self.closed = max(self.closed, certificate.saving_bound)
        self.far = max(self.far, certificate.saving_bound if certificate.elsewhere is None else certificate.elsewhere)
        self.count += certificate.cells
        self.visited.append(certificate.visited)
        before = max(self.cells.closed, float(others[:, BOUND].max(initial=0.0)))
        self.history += [(at, saving, max(bound, before)) for at, saving, bound in certificate.history.tolist()]

    def certificate(self) -> StageCertificate:
        """What all passes and searches have proven together."""
        cells, saving, total = self.cells, self.best.saving, self.cells.scene.everybody.savings.total
        waiting = float(cells.open[:, BOUND].max(initial=0.0))
        bound = max(saving, self.closed, waiting)
        closed = relative_gap(saving, bound) <= self.options.rel_gap
        ended = self.limits.exceeded() or ("memory_limit" if len(cells.open) else "resolution")
        history = np.array([*self.history, (self.limits.seconds, saving, bound)])
        history[:, 2] = np.minimum.accumulate(np.maximum(history[:, 2], bound))
        history[:, 1] = np.maximum.accumulate(history[:, 1])
        return StageCertificate(
            name=POSE,
            objective=total - saving,
            lower_bound=total - bound,
            saving=saving,
            saving_bound=bound,
            cells=cells.visited + self.count,
            closed=closed,
            ended_by="gap" if closed else ended,
            memory_wanted=self._wanted() if not closed and ended == "memory_limit" else None,
            history=history,
            visited=np.concatenate(self.visited) if self.visited else NOTHING,
            elsewhere=max(self.far, waiting) if self.stayed else bound,
        )

    def _wanted(self) -> int:
        """Bytes of a limit, half of which is for pairs, under which the cells that are left could be searched."""
        return 2 * PAIR_BYTES * math.ceil((self.cells.most_that_matter() + 1) / SPARE)  # one more, for what is rounded


def _without(nodes: FloatArray, chunks: list[FloatArray]) -> FloatArray:
    """Those that are in no chunk."""
    taken = {node.tobytes() for chunk in chunks for node in chunk}
    return nodes[np.array([node.tobytes() not in taken for node in nodes], dtype=bool)]
