"""What a batch says of each pair, and of all of them: `summary.json` and `summary.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import tear3d
from tear3d.cli.folder import TOOL
from tear3d.cli.manifest import Job
from tear3d.cli.saying import SCHEMA
from tear3d.report.batch import word

__all__ = ["DONE", "FAILED", "WAITING", "as_csv", "counts", "done", "failed", "summary", "waiting", "word"]

Row = dict[str, Any]
DONE, FAILED, WAITING = "done", "failed", "waiting"
FIELDS = (
    "name",
    "source",
    "target",
    "state",
    "registered",
    "verdict",
    "status",
    "success",
    "ambiguous",
    "num_inliers",
    "num_pairs",
    "fitness",
    "inlier_rmse",
    "seconds",
    "transformation",
    "reason",
    "file",
    "report",
    "earlier",
)
"""Of a row, in this order. `earlier`: found by an earlier run of the same batch."""


def waiting(job: Job) -> Row:
    row: Row = dict.fromkeys(FIELDS)
    source, target = (*job.files, None)[:2]
    names = {"name": job.name, "source": str(source), "target": None if target is None else str(target)}
    return row | names | {"state": WAITING, "registered": False, "earlier": False}


def failed(job: Job, error: BaseException) -> Row:
    """Without a result, and why."""
    named = isinstance(error, OSError) and error.filename and error.strerror
    text = " ".join((f"{error.filename}: {error.strerror}" if named else str(error)).split())  # type: ignore[attr-defined]
    return waiting(job) | {"state": FAILED, "reason": text or type(error).__name__}


def done(job: Job, found: Mapping[str, Any], file: str, *, earlier: bool) -> Row:
    """From the file that a worker wrote."""
    result = found["result"]
    reasons = result.get("reasons")
    return waiting(job) | {
        "state": DONE,
        "registered": found["registered"],
        "verdict": result.get("verdict"),
        **{name: result[name] for name in ("status", "success", "num_inliers", "num_pairs", "fitness", "inlier_rmse")},
        "ambiguous": result["ambiguity"] is not None,
        "seconds": found["seconds"],
        "transformation": result["transformation"],
        "reason": "; ".join(reasons) if reasons else result["message"],
        "file": file,
        "report": found["report"],
        "earlier": earlier,
    }


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Of the pairs: each is registered, not registered, failed or waiting."""
    finished = [row for row in rows if row["state"] == DONE]
    return {
        "pairs": len(rows),
        "registered": sum(row["registered"] for row in finished),
        "not_registered": sum(not row["registered"] for row in finished),
        "failed": sum(row["state"] == FAILED for row in rows),
        "waiting": sum(row["state"] == WAITING for row in rows),
        "earlier": sum(row["earlier"] for row in finished),
    }


def summary(rows: Sequence[Row], command: str, elapsed: float) -> dict[str, Any]:
    """For `summary.json`."""
    return {
        "schema": SCHEMA,
        "kind": "batch",
        "tool": TOOL,
        "tear3d": tear3d.__version__,
        "command": command,
        "complete": not any(row["state"] == WAITING for row in rows),
        "counts": counts(rows),
        "seconds": elapsed,
        "rows": list(rows),
    }


def as_csv(rows: Sequence[Row]) -> str:
    """One line a row; a pose is its 16 numbers, row by row."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        pose = row["transformation"]
        numbers = None if pose is None else " ".join(f"{value:.17g}" for line in pose for value in line)
        plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in row.items()}
        writer.writerow(plain | {"transformation": numbers})
    return text.getvalue()
