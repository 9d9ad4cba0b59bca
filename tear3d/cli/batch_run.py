"""A batch at work: which pairs are left, what became of the others, and the files that say so."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tear3d.cli import batch_rows
from tear3d.cli.batch_board import Board
from tear3d.cli.batch_job import solve_files
from tear3d.cli.batch_rows import Row
from tear3d.cli.batch_store import PAIRS, Store, load
from tear3d.cli.folder import to_json
from tear3d.cli.manifest import Job
from tear3d.cli.readme import NAME, readme
from tear3d.problem.kernels import count_cores
from tear3d.report.batch import batch_page
from tear3d.scale.many import register_many

AHEAD = 16
"""Pairs in flight for each process: they are but names of files, and a hard one must not hold up the others. Free
choice."""
_FILES = ("index.html", "summary.csv", "summary.json", "batch.json", "pairs")
_SAVED_EVERY = 5.0
"""Seconds between two writings of the summary, or twenty times what one takes; free choices."""


class How(NamedTuple):
    """The options of a batch that do not change what is found."""

    command: str
    processes: int | None = None
    reports: bool = False
    max_bytes: int | None = None


class Batch:
    """The rows of a batch, filled as pairs get done."""

    def __init__(self, jobs: Sequence[Job], store: Store, how: How, board: Board) -> None:
        self._jobs, self._store, self._how, self._board = jobs, store, how, board
        self.rows: list[Row] = [batch_rows.waiting(job) for job in jobs]
        self._cores = how.processes or count_cores()
        self._began = time.perf_counter()
        self._under_way: deque[tuple[int, Path]] = deque()
        self._next_save, self._settled = 0.0, 0

    def run(self) -> None:
        """Do what is not done yet. Whatever ends it, the summary tells what is."""
        most = AHEAD * self._cores
        outcomes = register_many(self._left(), function=solve_files, processes=self._cores, in_flight=most)
        try:
            self._save()
            for outcome in outcomes:
                k, place = self._under_way.popleft()
                self._settle(k, place, outcome.error)
                self._save_now_and_then()
        finally:
            outcomes.close()
            self._look()
            self._save()

    def look(self) -> tuple[list[Row], int]:
        """The rows as they are now, and how many are under way; from the thread that draws."""
        left = sum(not place.exists() for _, place in list(self._under_way))
        return self.rows, min(left, self._cores)

    def summary(self) -> dict[str, Any]:
        return batch_rows.summary(self.rows, self._how.command, time.perf_counter() - self._began)

    def _left(self) -> Iterator[dict[str, Any]]:
        """Problems for the workers; what is done already, or cannot be begun, is settled here."""
        for k, job in enumerate(self._jobs):
            try:
                inputs = self._store.inputs(job)
            except OSError as error:
                self._told(k, batch_rows.failed(job, error))
                continue
            place = self._store.place(job, inputs)
            report = place.with_suffix(".html") if self._how.reports else None
            found = load(place)
            if found is not None and (report is None or report.exists()):
                self._told(k, batch_rows.done(job, found, f"{PAIRS}/{place.name}", earlier=True))
                continue
            place.unlink(missing_ok=True)  # damaged, or without its page
            self._under_way.append((k, place))
            yield {
                "files": [str(file) for file in job.files],
                "options": dict(job.options),
                "place": str(place),
                "record": {"name": job.name, "inputs": inputs, "options": dict(job.options)},
                "report": None if report is None else str(report),
                "max_bytes": self._how.max_bytes,
                "token": self._store.token,
            }

    def _settle(self, k: int, place: Path, error: BaseException | None) -> None:
        job, found = self._jobs[k], load(place)
        if found is not None:  # though its worker may have died after that
            row = batch_rows.done(job, found, f"{PAIRS}/{place.name}", earlier=False)
        else:
            row = batch_rows.failed(job, error or OSError(f"{place} was written and is not there"))
        self._told(k, row)

    def _told(self, k: int, row: Row) -> None:
        self.rows[k] = row
        self._settled += 1
        self._board.tell(row, self._settled, len(self.rows))

    def _look(self) -> None:
        """What was written and is not counted yet, since one before it was not done."""
        for k, place in self._under_way:
            found = load(place)
            if found is not None:
                self.rows[k] = batch_rows.done(self._jobs[k], found, f"{PAIRS}/{place.name}", earlier=False)

    def _save_now_and_then(self) -> None:
        now = time.perf_counter()
        if now >= self._next_save:
            self._look()
            self._save()
            took = time.perf_counter() - now
            self._next_save = now + max(_SAVED_EVERY, 20.0 * took)

    def _save(self) -> None:
        told = self.summary()
        self._store.write("summary.json", to_json(told))
        self._store.write("summary.csv", batch_rows.as_csv(self.rows))
        self._store.write("index.html", batch_page(told))
        self._store.write(NAME, readme("batch", _FILES))
