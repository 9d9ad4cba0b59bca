"""One page about a batch: every pair with its verdict, those that need a look first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from tear3d.report import words
from tear3d.report.frame import framed

Row = Mapping[str, Any]
_ORDER = ("failed", "rejected", "doubtful", "no consensus")
"""Of those that are not registered: the clearest first."""
_TONES = {"confirmed": "good", "optimal": "good", "failed": "bad", "rejected": "bad", "no consensus": "bad"}
_HEADS = (("pair", ""), ("verdict", ""), ("agree", "num"), ("of", "num"), ("rmse", "num"), ("time", "num"), ("why", ""))


def batch_page(summary: Mapping[str, Any]) -> str:
    """The page, which opens offline.

    Parameters
    ----------
    summary : mapping
        What `summary.json` of a batch holds: `counts`, `complete`, `command`, `seconds`, `tear3d` and `rows`.

    Returns
    -------
    str
        HTML.
    """
    counts, complete = summary["counts"], summary["complete"]
    every, registered = counts["pairs"], counts["registered"]
    tone = "good" if registered == every else "warn"
    parts = {
        "tone": tone,
        "label": "complete" if complete else "not complete",
        "headline": _headline(every, registered),
        "sentence": _sentence(counts, complete),
        "tiles": _tiles(counts),
        "order": "Failures first, then what is not registered, what waits, what is registered. A column's name sorts.",
        "heads": "".join(f'<th class="{kind}"><button>{name}</button></th>' for name, kind in _HEADS),
        "rows": "\n".join(_line(row) for row in sorted(summary["rows"], key=_urgency)),
        "command": escape(summary["command"]),
    }
    return framed("batch", "Batch of " + _so_many(every), parts, ("batch.js",), None)


def word(row: Row) -> str:
    """What the clouds say, or the status of pairs, or what became of the row."""
    return str(row["verdict"] or row["status"] or row["state"]).replace("_", " ")


def _so_many(every: int) -> str:
    return f"{words.count(every)} pair{'' if every == 1 else 's'}"


def _headline(every: int, registered: int) -> str:
    if registered == every:
        return "The pair is registered" if every == 1 else f"All {words.count(every)} pairs are registered"
    return f"{words.count(registered)} of {_so_many(every)} {'is' if registered == 1 else 'are'} registered"


def _sentence(counts: Mapping[str, int], complete: bool) -> str:
    parts = [
        f"{text}: {words.count(counts[name])}."
        for name, text in (
            ("failed", "No result"),
            ("not_registered", "A result that cannot be relied on as it is"),
            ("waiting", "Not done yet when this page was written"),
        )
        if counts[name]
    ]
    if not complete:
        parts.append("The page is written anew now and then while a batch runs, and at its end.")
    return " ".join(parts) or "Every pair has a result that passed its tests."


def _tiles(counts: Mapping[str, int]) -> str:
    shown = [("registered", "registered"), ("not_registered", "not registered"), ("failed", "failed")]
    shown += [("waiting", "waiting")] if counts["waiting"] else []
    shown += [("earlier", "from an earlier run")] if counts["earlier"] else []
    tiles = "".join(f"<div><dt>{text}</dt><dd>{words.count(counts[name])}</dd></div>" for name, text in shown)
    return f'<dl class="tiles">{tiles}</dl>'


def _urgency(row: Row) -> tuple[int, int]:
    """The order on the page; equals stay as they are in the batch."""
    if row["registered"]:
        return 3, 0
    if row["state"] == "waiting":
        return 2, 0
    said = word(row)
    return 1 if row["state"] == "done" else 0, _ORDER.index(said) if said in _ORDER else len(_ORDER)


def _line(row: Row) -> str:
    said = word(row)
    tone = _TONES.get(said, "warn") if row["registered"] or row["state"] != "waiting" else ""
    link = f"pairs/{row['report']}" if row["report"] else row["file"]
    name = escape(row["name"])
    name = f'<a href="{escape(quote(link))}">{name}</a>' if link else name
    cells = (
        (row["name"], name, "pairname"),
        (said, f'<span class="pill {tone}">{escape(said)}</span>' + _marks(row), ""),
        _number(row["num_inliers"], words.count),
        _number(row["num_pairs"], words.count),
        _number(row["inlier_rmse"], words.number),
        _number(row["seconds"], words.seconds),
        (row["reason"] or "", escape(row["reason"] or ""), "why"),
    )
    named = zip(_HEADS, cells, strict=True)
    return f"<tr>{''.join(_cell(*cell, head) for (head, _), cell in named)}</tr>"


def _marks(row: Row) -> str:
    """What the verdict alone would hide."""
    notes: Sequence[str] = [
        *(["not registered"] if _TONES.get(word(row)) == "good" and not row["registered"] else []),
        *(["ambiguous"] if row["ambiguous"] else []),
    ]
    return f' <span class="why">{", ".join(notes)}</span>' if notes else ""


def _number(value: Any, style: Any) -> tuple[str, str, str]:
    return "" if value is None else repr(value), "–" if value is None else style(value), "num"


def _cell(key: str, html: str, kind: str, head: str) -> str:
    """`head` is shown beside it on narrow screens, where the columns stand below each other."""
    return f'<td class="{kind}" data-key="{escape(key)}" data-label="{head}">{html}</td>'
