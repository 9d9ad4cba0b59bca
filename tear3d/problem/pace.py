"""How fast this machine compiles, told by a few milliseconds of Python's own compiler."""

from __future__ import annotations

import time
from functools import cache

REFERENCE = 0.0043
"""Seconds of `sample_seconds` on the machine whose seconds `tear3d.problem.kernels.GROUPS` counts: an Intel Xeon server
at 2.5 GHz. With two cores 14 seconds are foreseen there for a first `register`, 18 for a first `align` and 42 for
`tear3d warmup`; 13, 16 and 38 to 42 were taken."""
SLOWEST = 20.0
"""A machine that seems slower than that, or as much faster, was busy with something else (free choice)."""
REPEATS = 8


def sample_seconds() -> float:
    """The best of some: what compiling a little Python takes."""
    body = "    c = [x * {0} + b for x in a if x > {0}]\n    return max(c) if c else b\n"
    source = "".join(f"def f{k}(a, b):\n" + body.format(k) for k in range(100))
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        compile(source, "<sample>", "exec")
        best = min(best, time.perf_counter() - began)
    return best


@cache
def slowness() -> float:
    """Seconds of this machine that go into one of the reference, about; asked once."""
    return min(SLOWEST, max(1.0 / SLOWEST, sample_seconds() / REFERENCE))
