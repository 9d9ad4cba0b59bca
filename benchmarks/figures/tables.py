"""Tables 1 to 3: recall, F1, errors and time on real pairs, by data set; without a folder of them, on made-up scans."""

from __future__ import annotations

import statistics

from benchmarks import datasets
from benchmarks.datasets.rules import OFFICIAL, OFFICIAL_SENTENCE, OTHER_SENTENCE, RULES
from benchmarks.figures import Scope, made_up
from benchmarks.figures.cells import ENDED, Table, name, systems
from benchmarks.figures.systems import ALL, SLOW, runs
from benchmarks.output import seconds
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Line, Panel, figure

TITLE = "Real pairs (Tables 1 to 3)"
QUICK = 3
EVERY = 6
"""So many pairs, one of which the slow systems get (free choice: two hours for all of it)."""


def tasks(scope: Scope) -> list[Task]:
    """Every system on every decidable pair of the folder, the slow ones on some."""
    where = scope.data or made_up.folder(scope.out)
    folder = datasets.open_folder(where)
    apart = folder.undecidable()
    names = [entry.name for entry in folder.entries if entry.name not in apart]
    chosen = names[:: max(1, len(names) // QUICK)][:QUICK] if scope.quick else names
    found: list[Task] = []
    for k, pair in enumerate(chosen):
        systems = ALL if scope.quick or k % EVERY == 0 else tuple(key for key in ALL if key not in SLOW)
        found += runs(scope, [Problem(folder=str(where.resolve()), layout=folder.layout, name=pair)], systems)
    return found


def tables(rows: list[Row]) -> list[Table]:
    done = [row for row in rows if row["outcome"] == "done"]
    found = []
    for title in dict.fromkeys(row["dataset"] for row in done):
        pairs = {row["problem"]["name"] for row in done if row["dataset"] == title}
        part = [row for row in rows if row["problem"]["name"] in pairs]
        found.append(_table(title, part, (rule(title),)))
    if len(found) > 1:
        found.append(_table("all", rows, ("right by the rule of each data set",)))
    return found


def rule(title: str) -> str:
    """When a pose of a data set is right, in a sentence."""
    return RULES[title].sentence if title in RULES else OTHER_SENTENCE


COLUMNS = (
    "system",
    "right",
    "recall",
    "F1",
    "rotation error",
    "translation error",
    "median time",
    "proven",
    "ended early",
)


def _table(title: str, rows: list[Row], notes: tuple[str, ...]) -> Table:
    number = len({row["problem"]["name"] for row in rows})
    others = list(dict.fromkeys(rule for row in rows for rule in list(row.get("rules", {}))[1:]))
    judged = {rule: {row["problem"]["name"] for row in rows if rule in row.get("rules", {})} for rule in others}
    extra = (
        "F1 (of the pairs a system names, else of those within ξ) and errors: medians over the pairs that are right",
        "time: over all pairs that ended by themselves",
        *((OFFICIAL_SENTENCE,) if OFFICIAL in others else ()),
        *_fewer(rows, number),
    )
    lines = tuple(_line(key, [row for row in rows if row["peer"] == key], judged) for key in systems(rows))
    columns = (*COLUMNS, *(f"right by {rule}" for rule in others))
    return Table(f"{title}, {number} pairs", columns, lines, (*notes, *extra))


def _line(key: str, rows: list[Row], judged: dict[str, set[str]]) -> tuple[str, ...]:
    done = [row for row in rows if row["outcome"] == "done"]
    right = [row for row in done if row["right"]]

    def middle(what: str) -> float:
        return statistics.median(row[what] for row in right) if right else float("nan")

    early = [row["outcome"] for row in rows if row["outcome"] != "done"]
    return (
        name(key),
        f"{len(right)}/{len(rows)}",
        f"{100 * len(right) / len(rows):.0f} %",
        *(
            (f"{middle('f1'):.3f}", f"{middle('rotation_error'):.2f}°", f"{middle('translation_error'):.3g}")
            if right
            else "–––"
        ),
        seconds(statistics.median(row["wall"] for row in done)) if done else "–",
        _proven(done),
        ", ".join(f"{early.count(kind)} {ENDED[kind]}" for kind in dict.fromkeys(early)) or "–",
        *(_by(other, rows, judged[other]) for other in judged),
    )


def _fewer(rows: list[Row], number: int) -> tuple[str, ...]:
    """Who was given some of the pairs only."""
    given = {key: sum(row["peer"] == key for row in rows) for key in systems(rows)}
    some = [f"{name(key)} {count}" for key, count in given.items() if count < number]
    return (f"given fewer than {number} pairs because they are slow: {', '.join(some)}",) if some else ()


def _proven(rows: list[Row]) -> str:
    """How many come with a closed certificate, of systems that give one."""
    said = [row["notes"]["closed"] for row in rows if "closed" in row["notes"]]
    return f"{sum(said)}/{len(said)}" if said else "–"


def _by(other: str, rows: list[Row], judged: set[str]) -> str:
    """Right by a rule, of the given pairs that it judges."""
    right = sum(row.get("rules", {}).get(other, False) for row in rows)
    return f"{right}/{sum(row['problem']['name'] in judged for row in rows)}"


def pictures(rows: list[Row]) -> dict[str, str]:
    """How many of the pairs that each system was given it has right within a time, and within a rotation error."""
    panels = [
        Panel(title, unit, "% of the pairs given", [_steps(key, rows, what) for key in systems(rows)], log_y=False)
        for title, unit, what in (
            ("right within a time", "seconds", "wall"),
            ("right within a rotation error", "degrees", "rotation_error"),
        )
    ]
    return {"tables": figure(f"{len({row['problem']['name'] for row in rows})} pairs", panels)}


def _steps(key: str, rows: list[Row], what: str) -> Line:
    mine = [row for row in rows if row["peer"] == key]
    values = sorted(max(row[what], 1e-4) for row in mine if row["outcome"] == "done" and row["right"])
    start = [(values[0], 0.0)] if values else []
    return Line(name(key), start + [(v, 100.0 * (k + 1) / len(mine)) for k, v in enumerate(values)], step=True)
