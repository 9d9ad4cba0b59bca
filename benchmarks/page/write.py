"""Writes the page, its pictures and the runs it was made from."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import figures
from benchmarks.output import console, write_picture
from benchmarks.page.chosen import anonymous, by_figure
from benchmarks.page.readme import put, table
from benchmarks.page.text import page
from benchmarks.runs.process import ROOT
from benchmarks.runs.store import read

RESULTS = ROOT / "benchmarks" / "results.jsonl"
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "images" / "results"


def write_page(runs: Path, quick: bool = False) -> None:
    """The page of results from a file of runs, which is kept beside the benchmarks."""
    about, rows = read(runs)
    kept = [anonymous(row) for row in rows]
    if runs.resolve() != RESULTS:
        lines = [json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in ({"about": about}, *kept)]
        RESULTS.write_text("".join(lines), encoding="utf-8")
    chosen = by_figure(kept, quick)
    PAGE.write_text(page(about, chosen), encoding="utf-8")
    README.write_text(put(README.read_text(encoding="utf-8"), table(chosen)), encoding="utf-8")
    console.print(f"written: {PAGE.relative_to(ROOT)}, {README.relative_to(ROOT)}")
    for name, mine in chosen.items():
        for title, svg in figures.figure(name).pictures(mine).items():
            write_picture(PICTURES / f"{title}.svg", svg)
