"""The page as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import figures, peers
from benchmarks.figures.cells import Table, absent
from benchmarks.figures.systems import ROWS, WRITTEN
from benchmarks.page.losses import losses
from benchmarks.runs.task import Row

HEAD = """# Every system on the same work

Every figure and table of the paper, with the systems it compares with and those that came after it. Each run is a
fresh process, pinned to its cores, timed without imports, compilers and the making of the problem; systems take turns,
so that a busy hour hurts all alike. "1/1" is one problem that was right, of one; errors of single problems are luck
in part, their order of magnitude is not. Settings are those that each system's authors recommend, at the end of this
page; systems whose constants assume metres (marked there) get every problem scaled so that the noise bound is 0.1. The
runs behind this page are in `benchmarks/results.jsonl`; on your machine:

```text
python -m benchmarks all --data FOLDER      # hours; --quick minutes, at reduced sizes
python -m benchmarks page
```
"""


def page(about: Row, chosen: dict[str, list[Row]]) -> str:
    """All of it."""
    parts = [HEAD, _machine(about), _losses(chosen)]
    for name, rows in chosen.items():
        figure = figures.figure(name)
        parts.append(f"## {figure.TITLE}\n\n`python -m benchmarks {name}`\n")
        parts += [_markdown(table) for table in figure.tables(rows)]
        parts += [f"![{figure.TITLE}](images/results/{title}.svg)\n" for title in figure.pictures(rows)]
    parts.append(_systems(chosen))
    return "\n".join(parts)


def _machine(about: Row) -> str:
    words = ", ".join(f"{key} {about[key]}" for key in ("tear3d", "python", "numpy", "numba"))
    return f"Machine: {about['processor']}, {about['cores']} cores, {about['system']}; {words}.\n"


def _losses(chosen: dict[str, list[Row]]) -> str:
    lines = losses(chosen)
    if not lines:
        return "## Where we lose\n\nNowhere in these runs.\n"
    return "## Where we lose\n\n" + "".join(f"- {line}\n" for line in lines)


def _markdown(table: Table) -> str:
    head = "| " + " | ".join(table.columns) + " |\n"
    rule = "|" + "".join("---|" if k < table.words else "---:|" for k in range(len(table.columns))) + "\n"
    body = "".join("| " + " | ".join(row) + " |\n" for row in table.rows)
    notes = "".join(f"{note[0].upper()}{note[1:]}. " for note in table.notes)
    title = f"**{table.title[0].upper()}{table.title[1:]}**\n\n"
    return f"{title}{head}{rule}{body}" + (f"\n{notes.strip()}\n" if notes else "")


def _systems(chosen: dict[str, list[Row]]) -> str:
    rows = [row for part in chosen.values() for row in part]
    ran = dict.fromkeys(row["peer"] for row in rows if row["outcome"] != "missing")
    lines = "".join(_system(peers.peer(key)) for key in ran)
    gone = "".join(f"- {line}.\n" for line in absent(rows))
    return f"## The systems and their settings\n\n{lines}" + (f"\nNot measured:\n\n{gone}" if gone else "")


def _system(peer: peers.Peer) -> str:
    return f"- **{peer.name}**" + "".join(_facts(peer)) + "\n"


def _facts(peer: peers.Peer) -> Iterator[str]:
    yield f". {peer.paper.rstrip('.')}. Settings: {peer.settings.rstrip('.')}."
    if peer.key in (*WRITTEN, *ROWS):
        yield f" Written here from its publication (`benchmarks/peers/{peer.key}.py`)."
    if peer.metres:
        yield " Assumes metres."
    if peer.quadratic:
        yield " Memory grows with the square of the number of pairs."
