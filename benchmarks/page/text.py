"""The page as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from benchmarks import figures, peers
from benchmarks.figures.cells import Table, absent
from benchmarks.figures.systems import PAPER, ROWS, WRITTEN
from benchmarks.page.losses import losses
from benchmarks.runs.task import Row

HEAD = """# Every system on the same work

Every figure and table of the paper, with the systems it compares with and those that came after it. Each run is a
fresh process, pinned to its cores, timed without imports, compilers and the making of the problem, after a small
problem to warm up; systems take turns, so that a busy hour hurts all alike. "1/1" is one problem that was right, of
one; errors of single problems are luck in part, their order of magnitude is not. Settings are those that each system's
authors recommend; where we depart from them, the list at the end of this page says so. Systems whose constants assume
metres (marked there) get every problem scaled so that the noise bound is 0.1. The runs behind this page are in
`benchmarks/results.jsonl`; a dash is a run that was not made. On your machine:

```text
python -m benchmarks all --data FOLDER      # hours; --quick minutes, at reduced sizes
python -m benchmarks page
```
"""


def page(about: Row, chosen: dict[str, list[Row]]) -> str:
    """All of it."""
    parts = [HEAD, _machine(about), _caps(chosen), _losses(chosen)]
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


def _caps(chosen: dict[str, list[Row]]) -> str:
    """What "out of time" and "out of memory" mean here."""
    rows = [row for part in chosen.values() for row in part]
    seconds, cores = (Counter(row[key] for row in rows).most_common(1)[0][0] for key in ("seconds", "threads"))
    sizes = sorted({row["gigabytes"] for row in rows})
    return (
        f"Caps: {seconds:g} s unless said otherwise and {' or '.join(f'{size:g}' for size in sizes)} GiB a run, on "
        f"{cores} cores. A system that reaches a cap is not given more pairs of the same kind.\n"
    )


def _losses(chosen: dict[str, list[Row]]) -> str:
    lines = losses(chosen)
    if not lines:
        return "## Where we lose\n\nIn time, memory, errors and pairs that are right: nowhere in these runs.\n"
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
    ran = {row["peer"]: row.get("version") for row in rows if row["outcome"] == "done"}
    lines = "".join(_system(peers.peer(key), version) for key, version in ran.items())
    gone = "".join(f"- {line}.\n" for line in absent(rows))
    return f"## The systems and their settings\n\n{lines}" + (f"\nNot measured:\n\n{gone}" if gone else "")


def _system(peer: peers.Peer, version: str | None) -> str:
    return f"- **{peer.name}**" + (f", {version}" if version else "") + "".join(_facts(peer)) + "\n"


def _facts(peer: peers.Peer) -> Iterator[str]:
    yield f". {peer.paper.rstrip('.')}. Settings: {peer.settings.rstrip('.')}."
    if peer.key in (*WRITTEN, *ROWS, *PAPER):
        yield f" Written here; `benchmarks/peers/{peer.key}.py` says from what, and where it differs."
    if peer.threads == 1:
        yield " One thread."
    if peer.metres:
        yield " Assumes metres."
    if peer.quadratic:
        most = f", of which it looks at the first {peer.most_pairs} at most" if peer.most_pairs else ""
        yield f" Memory grows with the square of the number of pairs{most}."
