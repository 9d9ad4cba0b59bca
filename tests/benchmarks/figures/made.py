"""Rows as if everything had run: the time grows with the pairs, one system fails when many pairs are wrong."""

from __future__ import annotations

from benchmarks.runs.task import Row, Task

SLOW = {"open3d_ransac": 3.0, "kiss_gnc": 0.5}
"""How long a system takes, in units of ours."""
FAILS = "kiss_gnc"
MISSING = "teaserpp"
FULL = "mac"


def made(task: Task, dataset: str = "synthetic") -> Row:
    """What a run might have given."""
    row = task.to_dict()
    if task.peer == MISSING:
        return row | {"outcome": "missing", "reason": "teaserpp_python is not installed"}
    if task.peer == FULL:
        return row | {"outcome": "memory", "reason": "more than 12 GiB"}
    right = not (task.peer == FAILS and task.problem.outlier_ratio > 0.96)
    return row | {
        "outcome": "done",
        "wall": SLOW.get(task.peer, 1.0) * (task.problem.n or 1000) * 1e-5,
        "cpu": 0.02,
        "peak_bytes": 100 << 20,
        "extra_bytes": 10 << 20,
        "pairs": task.problem.size or 1000,
        "right_pairs": 100,
        "dataset": dataset,
        "posed": True,
        "rotation_error": 0.1 if right else 90.0,
        "translation_error": 0.01 if right else 2.0,
        "right": right,
        "f1": 0.9 if right else 0.1,
        "notes": {"iterations": 1500},
    }
