"""How often clouds that have nothing in common are called registered, and how often those that have are not.

`python -m benchmarks.verdict --data DIR`: every pair goes through `register_clouds`, by default but for the proof. What
was measured is kept in `verdict.jsonl`, a line a pair, and not measured again.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import tear3d
from benchmarks.output import OUT, console, seconds, show, write_picture
from benchmarks.svg import Line, Panel, figure
from benchmarks.verdict_cases import Case, cases
from tear3d.clouds.verdict import wanted_fit
from tear3d.errors import TearError

RIGHT = 4.0
"""Voxels: a pose that puts the points nearer to where they belong, on average, is right."""
LEVELS = (-2.0, -4.0, -10.0)
Row = dict[str, Any]


def measure(case: Case, threads: int | None) -> Row:
    """Register a pair and note what was said about it."""
    source, target, truth = case.make()
    began = time.perf_counter()
    row: Row = {"kind": case.kind, "name": case.name, "related": case.related}
    try:
        found = tear3d.register_clouds(source, target, certify=False, threads=threads)
    except TearError as error:
        return row | {
            "verdict": "error",
            "success": False,
            "reasons": [str(error)],
            "seconds": time.perf_counter() - began,
        }
    known = found.evidence
    return row | {
        "verdict": found.verdict,
        "success": found.success,
        "right": None if truth is None else _error(found.transformation, truth, source) < RIGHT * found.voxel_size,
        "significance": _finite(found.result.significance),
        "fit": _finite(known.fit),
        "contradicted": _finite(known.contradicted),
        "perhaps_contradicted": _finite(known.perhaps_contradicted),
        "wanted": wanted_fit(known, found.result.significance),
        "overlap": _finite(known.overlap),
        "support": _finite(known.support),
        "drift": _finite(known.drift),
        "reasons": list(found.reasons),
        "tries": len(found.tries),
        "seconds": time.perf_counter() - began,
    }


def _error(pose: np.ndarray, truth: np.ndarray, points: np.ndarray) -> float:
    change = pose - truth
    return float(np.linalg.norm(points @ change[:3, :3].T + change[:3, 3], axis=1).mean())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def run(chosen: list[Case], path: Path, threads: int | None) -> list[Row]:
    """Measure what the file does not have yet, in random order: a part of it stands for the whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done = {(row["kind"], row["name"]): row for row in map(json.loads, lines)}
    for k, case in enumerate(chosen[i] for i in np.random.default_rng(0).permutation(len(chosen))):
        if (case.kind, case.name) not in done:
            with console.status(f"{k + 1} of {len(chosen)}: {case.kind}, {case.name} …"):
                row = measure(case, threads)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            done[case.kind, case.name] = row
    return [done[case.kind, case.name] for case in chosen]


def table(rows: list[Row]) -> Iterator[list[str]]:
    """A row a kind, and one for all that have nothing in common."""
    kinds = {row["kind"]: row["related"] for row in rows}
    for kind in sorted(kinds, key=lambda kind: (not kinds[kind], kind)):
        yield _line(kind, [row for row in rows if row["kind"] == kind])
    for title, related in (("all related", True), ("all unrelated", False)):
        part = [row for row in rows if row["related"] == related]
        if part:
            yield _line(title, part)


def _line(title: str, part: list[Row]) -> list[str]:
    levels = [row["significance"] for row in part if row.get("significance") is not None]
    verdicts = [sum(row["verdict"] == name for row in part) for name in ("confirmed", "doubtful", "rejected")]
    truths = [row for row in part if row.get("right") is not None]
    right = f"{sum(row['right'] for row in truths)}" if truths else "–"
    wrong = f"{sum(row['success'] and not row['right'] for row in truths)}" if truths else "–"
    return [
        title,
        str(len(part)),
        right,
        str(sum(row["success"] for row in part)),
        wrong,
        "/".join(str(sum(level < limit for level in levels)) for limit in LEVELS),
        "/".join(map(str, verdicts)),
        seconds(statistics.median(row["seconds"] for row in part)),
    ]


COLUMNS = ("kind", "pairs", "right", "called success", "of them wrong", "significance < −2/−4/−10",
           "confirmed/doubtful/rejected", "median time")  # fmt: skip


def picture(rows: list[Row]) -> str:
    """False success against missed success, for every limit of the clouds' evidence and of the significance."""
    related = [row for row in rows if row["related"] and row.get("right")]
    unrelated = [row for row in rows if not row["related"]]
    lines = [
        Line(name, _trade(list(map(score, related)), list(map(score, unrelated))), step=True)
        for name, score in (("clouds: fit / fit asked for", _standing), ("matches: significance", _significance))
    ]
    panel = Panel("every limit", "right poses missed, %", "unrelated pairs called a success, %", lines, False, False)
    return figure(f"{len(related)} right poses, {len(unrelated)} unrelated pairs", [panel])


def _standing(row: Row) -> float:
    return -math.inf if row.get("fit") is None else row["fit"] / row["wanted"]


def _significance(row: Row) -> float:
    return -math.inf if row.get("significance") is None else -row["significance"]


def _trade(right: list[float], wrong: list[float]) -> list[tuple[float, float]]:
    limits = sorted({*right, *wrong, math.inf} - {-math.inf})
    return sorted(
        (
            100.0 * sum(v < limit for v in right) / max(1, len(right)),
            100.0 * sum(v >= limit for v in wrong) / max(1, len(wrong)),
        )
        for limit in limits
    )


def main(
    data: Annotated[
        Path | None, typer.Option(help="Folder with clouds/ and pairs/; generated shapes alone without.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Every tenth pair.")] = False,
    only: Annotated[str, typer.Option(help="Only pairs whose kind or name contains this.")] = "",
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of verdict.jsonl.")] = OUT,
    svg: Annotated[Path | None, typer.Option(help="Where to draw false against missed success.")] = None,
) -> None:
    """False and missed success of `register_clouds`."""
    chosen = [case for case in cases(data) if only in case.kind or only in case.name][:: 10 if quick else 1]
    rows = run(chosen, out / "verdict.jsonl", threads)
    show("Verdict on clouds", COLUMNS, table(rows))
    for row in rows:
        if row["success"] and (row.get("right") is False or not row["related"]):
            console.print(f"wrongly a success: {row['kind']}, {row['name']}: {row['reasons'][0]}")
    if svg is not None:
        write_picture(svg, picture(rows))


if __name__ == "__main__":
    typer.run(main)
