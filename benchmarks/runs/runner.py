"""Runs what is not in the file yet, systems taking turns, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks import peers
from benchmarks.output import console
from benchmarks.runs import process
from benchmarks.runs.store import Store
from benchmarks.runs.task import STOPPED, Row, Task


def run_all(
    tasks: Iterable[Task], path: Path, run: Callable[[Task], Row] = process.run, quiet: bool = False
) -> list[Row]:
    """Rows of all tasks, in their order; those that the file has are not run again.

    Parameters
    ----------
    tasks
        In the order in which they run: systems innermost, so that a busy hour hurts all alike.
    path
        JSON lines; made if it is not there.
    run : callable
        What makes a row of a task.
    quiet
        Say nothing about what is there already.
    """
    wanted = list(dict.fromkeys(tasks))
    store = Store(path)
    if store.moved:
        console.print(f"another machine or version made {path}: moved to {store.moved}", style="yellow")
    known = sum(_known(task, store) for task in wanted)
    if known and not quiet:
        console.print(f"{known} of {len(wanted)} runs are in {path} already")
    if known == len(wanted):
        return [store.rows[task.key] for task in wanted]
    with _bar() as bar:
        shown = bar.add_task("", total=len(wanted), completed=known)
        for task in wanted:
            if not _known(task, store):
                bar.update(shown, description=describe(task))
                store.add(_hopeless(task, store) or run(task))
                bar.advance(shown)
    return [store.rows[task.key] for task in wanted]


def _known(task: Task, store: Store) -> bool:
    """Whether the file has it; what was missing may have been installed since."""
    row = store.get(task)
    return row is not None and (row["outcome"] != "missing" or peers.peer(task.peer).missing() is not None)


def describe(task: Task) -> str:
    problem = task.problem
    return f"{task.peer}: {problem.name or f'{problem.size} pairs, {100 * problem.outlier_ratio:g} %'}"


def _hopeless(task: Task, store: Store) -> Row | None:
    """A row without a run, when the system is missing or has run out of time or memory on as many pairs or fewer."""
    reason = peers.peer(task.peer).missing()
    if reason is not None:
        return task.to_dict() | {"outcome": "missing", "reason": reason}
    if task.problem.folder:
        return None
    for row in store.rows.values():
        other = Task.of(row)
        if row["outcome"] in STOPPED and other.series == task.series and other.problem.size <= task.problem.size:
            words = f"{row['reason']} with {other.problem.size} pairs"
            return task.to_dict() | {"outcome": row["outcome"], "reason": words, "tried": False}
    return None


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
