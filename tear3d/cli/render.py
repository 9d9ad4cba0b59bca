"""What a person reads at the end of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tear3d.report import words

if TYPE_CHECKING:
    from tear3d.result import Certificate, Result
    from tear3d.synthetic import Problem

_COLOURS = {"good": "green", "warn": "yellow", "bad": "red"}
_MAX_WIDTH = 96
_PICTURE = (35, 10)


def print_result(result: Result, truth: Problem | None = None, console: Console | None = None) -> None:
    """The verdict, the pose, the figures, and what each stage proved."""
    console = console or _console()
    verdict = words.verdict(result)
    colour = _COLOURS[verdict.tone]
    headline = Text(verdict.headline, style=f"bold {colour}")
    title = Text(f" {verdict.label} ", style=f"bold {colour}")
    body = Group(headline, Text(verdict.sentence))
    console.print(Panel(body, title=title, title_align="left", border_style=colour, padding=(0, 1)))
    console.print(_figures(result, truth))
    if result.certificate.stages:
        console.print(_stages(result.certificate))


def print_demo_task(problem: Problem, console: Console | None = None) -> None:
    """Say what the demo is about to do."""
    console = console or _console()
    total, right = len(problem.inlier_mask), int(problem.inlier_mask.sum())
    console.print(
        f"A teapot of {words.count(total)} points was turned, moved and blurred, and all but "
        f"[bold]{words.count(right)}[/bold] of them were matched with random points. Which motion was it?",
        highlight=False,
    )


def print_demo_picture(problem: Problem, result: Result, console: Console | None = None) -> None:
    """The matched points as given, and the consistent ones moved back into the teapot's frame."""
    from tear3d.cli.picture import braille

    console = console or _console()
    if console.encoding.lower().replace("-", "") != "utf8":
        return
    found = problem.target[result.inlier_mask]
    upright = (found - result.translation) @ result.rotation
    low, high = problem.source[:, [0, 2]].min(axis=0), problem.source[:, [0, 2]].max(axis=0)
    given = problem.target[:, [0, 2]]
    spread = np.percentile(given, [1, 99], axis=0)
    pictures = (
        ("all matches, as given", braille(given[:4000], spread[0], spread[1], *_PICTURE)),
        ("those that agree, moved back", braille(upright[:, [0, 2]], low, high, *_PICTURE)),
    )
    console.print(
        Columns([Panel(Text(art), title=title, box=box.ROUNDED, style="dim") for title, art in pictures])
    )


def _figures(result: Result, truth: Problem | None) -> Padding:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    rows = "\n".join("".join(f"{value:12.6f}" for value in row) for row in result.transformation)
    table.add_row("pose", Text(rows, no_wrap=True))
    table.add_row("", Text("target = pose · source", style="dim"))
    if truth is not None:
        table.add_row("against the truth", _truth(result, truth))
    table.add_row("inlier rmse", words.number(result.inlier_rmse))
    chance = words.power_of_ten(result.significance)
    table.add_row("by chance", f"{chance} poses this good expected in random pairs")
    total = words.seconds(sum(result.seconds.values()))
    parts = ", ".join(f"{name} {words.seconds(value)}" for name, value in result.seconds.items())
    table.add_row("time", f"{total} ({parts})" if len(result.seconds) > 1 else total)
    return Padding(table, (0, 2))


def _truth(result: Result, truth: Problem) -> str:
    from tear3d.metrics import precision_recall_f1, rotation_error, translation_error

    scores = precision_recall_f1(result.inlier_mask, truth.inlier_mask)
    return (
        f"rotation {rotation_error(result.transformation, truth.transformation):.3f}° off, "
        f"translation {translation_error(result.transformation, truth.transformation):.4f} off\n"
        f"{100 * scores.recall:.1f} % of the right pairs found, "
        f"{100 * scores.precision:.1f} % of those found are right"
    )


def _stages(certificate: Certificate) -> Group:
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    table.add_column("stage", no_wrap=True)
    for name in ("saved", "at most", "gap", "cells"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ended by", no_wrap=True)
    for stage in certificate.stages:
        colour = "green" if stage.closed else "yellow"
        table.add_row(
            stage.name,
            words.number(stage.saving, 6),
            words.number(stage.saving_bound, 6) if math.isfinite(stage.saving_bound) else "no bound",
            words.percent(stage.gap),
            words.count(stage.cells),
            Text(words.ENDED_BY.get(stage.ended_by, stage.ended_by), style=colour),
        )
    caption = Text("saved: how far the loss lies below that of calling every pair wrong", style="dim")
    return Group(Padding(table, (0, 2, 0, 1)), Padding(caption, (0, 2)))


def _console() -> Console:
    console = Console()
    if console.width > _MAX_WIDTH:
        console = Console(width=_MAX_WIDTH)
    return console
