"""Thousands of calls in one process: do memory, threads or open files grow?

`python -m benchmarks.soak`. Calls of `register` differ in size, proof and luck: some problems have no pose to find,
some are refused. Looked at after every hundredth part, with the garbage collected; the first fifth, in which kernels
are loaded and memory settles, is not counted. Exit code 1 if something grew.
"""

from __future__ import annotations

import gc
from typing import Annotated, NamedTuple

import numpy as np
import psutil
import typer

import tear3d
from benchmarks.output import show
from tear3d.synthetic import make_problem

MOST_MIB = 8.0
"""Growth that is none: fragments of what is allocated and freed. A leak of one array of 1 000 points a call, 24 kB,
would be 37 MiB over 1 600 calls. Free choice between the two."""
SIZES = (50, 200, 500, 1000)
PROOFS = (False, "pose", "rows", False)


class State(NamedTuple):
    """Of this process."""

    mib: float
    threads: int
    files: int


def state() -> State:
    gc.collect()
    process = psutil.Process()
    files = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
    return State(process.memory_info().rss / 2**20, process.num_threads(), files)


def call(k: int) -> str:
    """One of many calls; what became of it."""
    problem = make_problem(SIZES[k % 4], 0.8, seed=k)
    target = problem.target
    if k % 10 == 3:
        target = np.random.default_rng(k).normal(size=target.shape)
    if k % 10 == 7:
        target = target[:-1]
    try:
        found = tear3d.register(
            problem.source, target, noise_bound=problem.noise_bound, certify=PROOFS[k // 4 % 4], time_limit=0.5
        )
    except tear3d.InputError:
        return "refused"
    return found.status


def soak(count: int) -> tuple[list[tuple[int, State]], dict[str, int]]:
    """States now and then, and how often each status came."""
    seen, statuses = [], dict[str, int]()
    for k in range(count):
        status = call(k)
        statuses[status] = statuses.get(status, 0) + 1
        if (k + 1) % max(1, count // 100) == 0 and 5 * (k + 1) >= count:
            seen.append((k + 1, state()))
    return seen, statuses


def grown(seen: list[tuple[int, State]]) -> list[str]:
    """What grew from the first quarter of the states to the last, in words."""
    quarter = max(1, len(seen) // 4)
    first, last = ([each for _, each in part] for part in (seen[:quarter], seen[-quarter:]))
    words = []
    mib = float(np.median([each.mib for each in last]) - np.median([each.mib for each in first]))
    if mib > MOST_MIB:
        words.append(f"memory by {mib:.1f} MiB")
    for name in ("threads", "files"):
        before, after = (max(getattr(each, name) for each in part) for part in (first, last))
        if after > before:
            words.append(f"{name} from {before} to {after}")
    return words


def main(count: Annotated[int, typer.Option(min=10, help="Calls.")] = 2000) -> None:
    """Many calls, one process."""
    seen, statuses = soak(count)
    rows = [
        [str(k), f"{each.mib:.1f}", str(each.threads), str(each.files)] for k, each in seen[:: max(1, len(seen) // 8)]
    ]
    more = grown(seen)
    notes = (", ".join(f"{number} {status}" for status, number in sorted(statuses.items())),)
    show(f"{count} calls of register", ("calls", "resident, MiB", "threads", "open files"), rows, notes, words=0)
    print("grew: " + ", ".join(more) if more else f"nothing grew (memory by less than {MOST_MIB:g} MiB)")
    if more:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
