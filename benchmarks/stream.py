"""Pairs larger than memory: time, memory and passes against their number; and what a model of the cost foresees.

    python -m benchmarks.stream                         # 2·10⁶ and 10⁷ pairs
    python -m benchmarks.stream --sizes 2e6,1e7,1e8     # 2.4 GB on disk
    python -m benchmarks.stream --cluster               # two workers against two threads

Each run is a process of its own. The model has five constants (`CONSTANTS`), fitted to the passes of the smaller sizes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import nnls

from benchmarks.memory import PeakMemory
from benchmarks.output import OUT, console, count, seconds, show, write_json

BOUND, RATIO = 0.0554, 0.99
CHUNK = 1_000_000
CONSTANTS = ("look", "survey", "seat", "vote", "touch")
"""Of the first look; of a survey, for each pose; of a pass of the proof, and for each visit of a pair: to vote about a
cell, or to be asked whether it matters in it or in a family of cells (`Family.visits`)."""


def write_problem(path: Path, n: int, ratio: float = RATIO) -> np.ndarray:
    """A file of n pairs, N×6 in float32, made a chunk at a time; returns the truth."""
    import tear3d

    truth = tear3d.synthetic.make_problem(10, outlier_ratio=0.0, seed=1)
    how = {"rotation": truth.rotation, "translation": truth.translation, "cloud": "ellipsoid", "outlier_ratio": ratio}
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".half")
        out = np.lib.format.open_memmap(half, "w+", np.float32, (n, 6))
        for first in range(0, n, CHUNK):
            rows = slice(first, min(n, first + CHUNK))
            some = tear3d.synthetic.make_problem(rows.stop - first, seed=2 + first // CHUNK, **how)
            out[rows, :3], out[rows, 3:] = some.source, some.target
        out.flush()
        del out
        half.rename(path)
    return truth.transformation


def one(path: Path, limit: int, time_limit: float) -> dict[str, Any]:
    """A run here, with a row for each pass."""
    import tear3d
    from tear3d.problem.limits import READING
    from tear3d.stream import register
    from tear3d.stream.local import Local

    passes: list[dict[str, Any]] = []

    class Recording(Local):
        def run(self, work: Any, limits: Any, tick: Any = None) -> Any:
            began, read = time.perf_counter(), limits.laps.get(READING, 0.0)
            found = super().run(work, limits, tick)
            cells = len(getattr(work, "nodes", ())) or len(getattr(work, "poses", ()))
            took = time.perf_counter() - began
            waited = limits.laps.get(READING, 0.0) - read
            kind = type(work).__name__
            visits = work.family.visits() if hasattr(work, "family") else (0.0, 0.0)
            row = {"kind": kind, "cells": cells, "seconds": took, "reading": waited, "done": found is not None}
            passes.append(row | {"visits": visits})
            return found

    register.Local = Recording  # type: ignore[misc]
    small = tear3d.synthetic.make_problem(20_000, outlier_ratio=0.9, seed=0)
    tear3d.register(small.source, small.target, noise_bound=small.noise_bound)  # loads what is compiled
    pairs = tear3d.open_pairs(path)
    with PeakMemory() as memory:
        began = time.perf_counter()
        found = tear3d.register(
            pairs.source, pairs.target, noise_bound=BOUND, memory_limit=limit, time_limit=time_limit
        )
        took = time.perf_counter() - began
    return {
        "seconds": took,
        "status": found.status,
        "gap": found.certificate.gap,
        "pose": found.transformation.tolist(),
        "steps": found.seconds,
        "passes": passes,
        "peak": memory.peak,
        "extra": memory.extra,
    }


def terms(one: dict[str, Any]) -> list[float]:
    """How often each constant counts in a pass."""
    kind, cells, (visits, picks) = one["kind"], one["cells"], one["visits"]
    return [
        kind == "Look",
        (kind == "Agreement") * cells,
        kind in ("Votes", "Gather"),
        (kind == "Votes") * visits,
        (kind == "Gather") * visits + picks,
    ]


def fit(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Nanoseconds a pair, on all threads together: see `CONSTANTS`."""
    rows = [(run["pairs"], one) for run in runs for one in run["passes"] if one["done"]]
    a = np.array([terms(one) for _, one in rows], float)
    b = np.array([1e9 * one["seconds"] / n for n, one in rows])
    weight = np.sqrt([n for n, _ in rows])
    found = nnls(a * weight[:, None], b * weight)[0]
    return dict(zip(CONSTANTS, found.tolist(), strict=True))


def foreseen(constants: dict[str, float], run: dict[str, Any]) -> float:
    """Seconds of all passes of a run by the model."""
    values = np.array(list(constants.values()))
    return 1e-9 * run["pairs"] * float(sum(values @ np.array(terms(one), float) for one in run["passes"]))


def on_cluster(path: Path, limit: int) -> dict[str, Any]:
    """Two workers against two threads, the same pieces."""
    import dask.array as array
    from distributed import Client, LocalCluster

    import tear3d

    mapped = np.load(path, mmap_mode="r")
    size = max(1, len(mapped) // 8)
    sides = [array.from_array(mapped[:, own], chunks=(size, 3)) for own in (slice(0, 3), slice(3, 6))]
    how: dict[str, Any] = {"noise_bound": BOUND, "memory_limit": limit, "time_limit": None}
    began = time.perf_counter()
    here = tear3d.register(*sides, **how)
    threads = time.perf_counter() - began
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        there = [part.persist() for part in sides]
        tear3d.register(*there, client=client, **how)  # loads what is compiled, on the workers too
        began = time.perf_counter()
        found = tear3d.register(*there, client=client, **how)
        workers = time.perf_counter() - began
    same = "yes" if np.array_equal(found.transformation, here.transformation) else "NO"
    if "first look" not in here.seconds:
        same = "here all was in memory"
    return {"threads": threads, "workers": workers, "same bits": same, "status": found.status}


def main(
    sizes: Annotated[str, typer.Option(help="Numbers of pairs, separated by commas.")] = "2e6,1e7",
    memory_limit: Annotated[int, typer.Option(help="MiB that a run may keep.")] = 1024,
    time_limit: Annotated[float, typer.Option(help="Seconds of a run.")] = 900.0,
    cluster: Annotated[bool, typer.Option(help="Two workers against two threads instead.")] = False,
    folder: Annotated[Path, typer.Option(help="Where the files of pairs go.")] = OUT / "stream",
    only: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Measure pairs that are read in pieces."""
    limit = memory_limit << 20
    if only:
        print(json.dumps(one(Path(only), limit, time_limit)))
        return
    runs: list[dict[str, Any]] = []
    for n in (int(float(size)) for size in sizes.split(",")):
        path = folder / f"pairs_{n}.npy"
        truth = write_problem(path, n)
        # What all fits into would be searched in memory: less, so that passes are measured.
        own = min(limit, max(128 << 20, 64 * n))
        if cluster:
            runs.append({"pairs": n} | on_cluster(path, own))
            continue
        command = [sys.executable, "-m", "benchmarks.stream", "--only", str(path), "--time-limit", str(time_limit)]
        command += ["--memory-limit", str(own >> 20)]
        run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        from tear3d.metrics import rotation_error

        runs.append({"pairs": n, "limit": own, "error": rotation_error(np.array(run["pose"]), truth)} | run)
        console.print(f"{count(n)} pairs: {run['status']} after {run['seconds']:.1f} s")
    if cluster:
        rows = [
            (count(run["pairs"]), seconds(run["threads"]), seconds(run["workers"]),
             f"{run['workers'] / run['threads']:.2f}", run["same bits"]) for run in runs
        ]  # fmt: skip
        show("Two workers against two threads", ("pairs", "threads", "workers", "ratio", "same bits"), rows)
    else:
        _show(runs)
    write_json(OUT / ("stream-cluster.json" if cluster else "stream.json"), {"runs": runs})


def _show(runs: list[dict[str, Any]]) -> None:
    rows = []
    for run in runs:
        reading = sum(one["reading"] for one in run["passes"])
        passes = sum(one["seconds"] for one in run["passes"])
        cells = sum(one["cells"] for one in run["passes"] if one["kind"] == "Votes")
        rows.append((
            count(run["pairs"]), run["status"], f"{100 * run['gap']:.2g} %", seconds(run["seconds"]),
            str(len(run["passes"])), str(cells), seconds(reading), seconds(passes - reading),
            seconds(run["seconds"] - passes), f"{run['peak'] / 2**20:.0f}", f"{run['limit'] / 2**20:.0f}",
        ))  # fmt: skip
    columns = (
        "pairs",
        "status",
        "gap",
        "time",
        "passes",
        "cells",
        "reading",
        "passes' work",
        "search",
        "peak MiB",
        "limit",
    )
    show("Pairs in pieces", columns, rows)
    constants = fit(runs[:-1] or runs)
    told = ", ".join(f"{name} {value:.1f}" for name, value in constants.items())
    console.print(f"nanoseconds a pair, from all sizes but the largest: {told}")
    for run in runs:
        measured = sum(one["seconds"] for one in run["passes"])
        ratio = foreseen(constants, run) / measured
        console.print(f"{count(run['pairs'])} pairs: passes foreseen / measured {ratio:.2f}")


if __name__ == "__main__":
    typer.run(main)
