"""The README's short table: why this and not one of those."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from benchmarks.figures.cells import group, name
from benchmarks.output import count, percent, seconds
from benchmarks.runs.task import Row

SYSTEMS = {
    "tear3d_answer": "could it be chance, is it ambiguous, covariance",
    "tear3d_pose": "and what every other pose can save at most",
    "tear_paper": "a bound for each of two rows",
    "teaserpp": "a bound for the rotation",
    "teaser": "nothing",
    "kiss": "number of inliers",
    "kiss_gnc": "number of inliers",
    "open3d_ransac_edges": "number of inliers",
    "open3d_fgr": "number of inliers",
}
"""Those that people come from → what they say about their answer."""
RATIOS = (0.95, 0.99)
START, END = "<!-- comparison: python -m benchmarks page -->", "<!-- end of comparison -->"


def table(chosen: dict[str, list[Row]]) -> str:
    """Markdown: a line for every system that ran."""
    real, over_ratio, over_n = (chosen.get(key, []) for key in ("tables", "fig6", "fig1"))
    ran = {row["peer"] for row in (*real, *over_ratio) if row["outcome"] != "missing"}
    made = any(row["problem"]["folder"] == "made-up" for row in real)
    pairs = len({row["problem"]["name"] for row in real})
    n = over_ratio[0]["problem"]["n"] if over_ratio else 0
    columns = [
        "",
        f"{pairs} {'made-up' if made else 'real'} pairs: right, time",
        *(f"{count(n)} pairs, {percent(ratio)} wrong" for ratio in RATIOS),
        "most pairs it solved",
        "what it says of its answer",
    ]
    cells = group(over_ratio, lambda p: p.outlier_ratio)
    lines = [
        [
            name(key),
            _real(row for row in real if row["peer"] == key),
            *(cells[key, ratio].text() if (key, ratio) in cells else "–" for ratio in RATIOS),
            _most([row for row in over_n if row["peer"] == key]),
            said,
        ]
        for key, said in SYSTEMS.items()
        if key in ran
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in (columns, ["---"] * len(columns), *lines)) + "\n"


def _real(rows: Iterable[Row]) -> str:
    every = list(rows)
    done = [row for row in every if row["outcome"] == "done"]
    if not done:
        return "–"
    share = f"{sum(row['right'] for row in done)} of {len(every)}"
    proofs = [row["notes"]["closed"] for row in done if "closed" in row["notes"]]
    share += f" ({sum(proofs)} proven)" if proofs else ""
    return f"{share}, {seconds(statistics.median(row['wall'] for row in done))}"


def _most(rows: list[Row]) -> str:
    """The largest size with a right answer, and its memory."""
    right = [row for row in rows if row["outcome"] == "done" and row["right"]]
    if not right:
        return "–"
    largest = max(right, key=lambda row: row["problem"]["n"])
    return f"{count(largest['problem']['n'])} in {largest['peak_bytes'] / 2**20:,.0f} MiB".replace(",", " ")


def put(text: str, fresh: str) -> str:
    """A README with the table between its marks replaced."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{fresh}{END}{after}"
