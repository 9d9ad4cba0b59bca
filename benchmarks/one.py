"""One large problem in a process of its own, so that its peak memory is its own; prints JSON.

Used by `benchmarks.scale`; by hand::

    python -m benchmarks.one '{"n": 100000, "outlier_ratio": 0.99, "cloud": "ellipsoid",
                               "rel_gap": 1e-3, "threads": 2, "seed": 0}'
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from benchmarks.measure import run, warm_up
from benchmarks.memory import PeakMemory
from benchmarks.passes import pass_seconds
from tear3d.synthetic import make_problem


def measure(
    n: int, outlier_ratio: float, cloud: str, rel_gap: float, threads: int, seed: int, time_limit: float | None = None
) -> dict[str, Any]:
    """Solve one problem; time, passes, errors, certificate, and memory at the peak of the registration."""
    problem = make_problem(n, outlier_ratio, cloud=cloud, seed=seed)
    compiled = warm_up(threads, n)
    unit = pass_seconds(problem.source, problem.target)
    with PeakMemory() as memory:
        found = run(problem, threads=threads, rel_gap=rel_gap, time_limit=time_limit)
    return {
        "n": n,
        "outlier_ratio": outlier_ratio,
        "cloud": cloud,
        "rel_gap": rel_gap,
        "threads": threads,
        "seed": seed,
        **asdict(found),
        "pass_seconds": unit,
        "passes": found.seconds / unit,
        "compile_seconds": compiled,
        "peak_bytes": memory.peak,
        "extra_bytes": memory.extra,
        "bytes_per_pair": memory.extra / n,
    }


if __name__ == "__main__":
    json.dump(measure(**json.loads(sys.argv[1])), sys.stdout)
