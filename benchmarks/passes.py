"""The unit of time: one plain NumPy pass over the pairs of a problem, in float32 and one thread.

Seconds differ from machine to machine and from hour to hour on a shared one; the ratio to a pass hardly does.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from numpy.typing import NDArray

REPEATS = 5


def pass_seconds(source: NDArray[np.floating], target: NDArray[np.floating], repeats: int = REPEATS) -> float:
    """Median time of ``np.abs(y - x @ r - t).sum()`` over the pairs of a problem.

    Parameters
    ----------
    source, target : (N, 3) array
        x is the whole source, y the first target coordinate, both copied to contiguous float32 first.
    repeats : int
        Timed repetitions, after one that is not.
    """
    x = np.ascontiguousarray(source, dtype=np.float32)
    y = np.ascontiguousarray(target[:, 0], dtype=np.float32)
    r, t = np.array([0.36, 0.48, 0.8], dtype=np.float32), np.float32(0.1)
    times = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        np.abs(y - x @ r - t).sum()
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])
