"""What a person reads at the end of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tear3d.cli.advice import advice
from tear3d.cli.motions import motions
from tear3d.cli.prose import Prose
from tear3d.report import judged, words
from tear3d.report.about import About, all_steps

if TYPE_CHECKING:
    from tear3d.cli.folder import Run
    from tear3d.cli.truth import Truth
    from tear3d.clouds.register import CloudResult
    from tear3d.lab.synthetic import Problem
    from tear3d.problem.arrays import FloatArray
    from tear3d.result import Certificate, Result

_COLOURS = {"good": "green", "warn": "yellow", "bad": "red"}
_MAX_WIDTH = 96
_NARROW = 72
"""Columns below which labels beside a pose would cost it digits."""
_PICTURE = (35, 10)
_FAR = 10.0
"""A translation so many times longer than the way of the centre needs an explanation."""


def print_result(run: Run, truth: Truth | Problem | None = None, console: Console | None = None) -> None:
    """The verdict, the pose, the figures, what each stage proved, and what to try if that is not enough."""
    console = console or _console()
    result = run.result
    verdict = judged.verdict(result, run.found)
    colour = _COLOURS[verdict.tone]
    title = Text(f" {verdict.label} ", style=f"bold {colour}")
    body = Group(
        Prose(verdict.headline, style=f"bold {colour}"), *map(_bullet, verdict.reasons), Prose(verdict.sentence)
    )
    console.print(Panel(body, title=title, title_align="left", border_style=colour, padding=(0, 1)))
    narrow = console.width < _NARROW
    if narrow:
        console.print(Padding(Text(f"pose: {_of_pose(run)}\n{matrix(run.transformation)}"), (0, 2)))
    console.print(_figures(run, truth, with_pose=not narrow))
    if len(result.instances) > 1:
        console.print(motions(result, narrow=narrow))
    elif result.certificate.stages:
        console.print(_stages(result.certificate, (0, 0) if narrow else (0, 1)))
    text = advice(result, run.found)
    if text:
        console.print(Padding(Prose(text), (1, 2, 0, 2)))


def _bullet(text: str) -> Table:
    """A line that is indented where it goes on."""
    line = Table.grid(padding=(0, 1))
    line.add_row("•", Prose(text))
    return line


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
    console.print(Columns([Panel(Text(art), title=title, box=box.ROUNDED, style="dim") for title, art in pictures]))


def _figures(run: Run, truth: Truth | Problem | None, *, with_pose: bool) -> Padding:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    if with_pose:
        if words.poseless(run.result):
            table.add_row("pose", Text("none: nothing was sought"))
        else:
            table.add_row("pose", Text(matrix(run.transformation), no_wrap=True))
            table.add_row("", Text(_of_pose(run), style="dim"))
    for name, text in _rows(run, truth):
        table.add_row(name, Prose(text))
    return Padding(table, (0, 2))


def _of_pose(run: Run) -> str:
    refined = ", refined on the clouds" if run.refined is not None else ""
    return f"target = pose · source{refined}"


def _rows(run: Run, truth: Truth | Problem | None) -> Iterator[tuple[str, str]]:
    result, found = run.result, run.found
    shift = (found or result).centre_shift
    if np.linalg.norm(run.transformation[:3, 3]) > _FAR * np.linalg.norm(shift):
        yield "centre moves by", "  ".join(words.number(float(v)) for v in shift)
    if judged.scale(result):
        yield "scale", f"{judged.scale(result)}, in the pose's 3×3 part"
    yield "uncertainty", judged.uncertainty(result, found)
    if truth is not None:
        yield "against the truth", _against(truth, run)
    unsaid = found is None and not result.success and not words.poseless(result)
    note = words.message(result) if result.status == "uncertified" or unsaid else ""
    note = note or judged.notes(result, judged.verdict(result, found).sentence)
    if note:
        yield "note", note
    if found is not None:
        yield from _clouds(run, found)
    following = judged.next_best(result)
    if following:
        yield "best other pose", following
    bound = judged.runner_up(result)
    if bound:
        yield "any other pose", bound
    if result.noise is not None:
        yield "noise bound", result.noise.sentence.removeprefix("noise bound ")
    yield "inlier rmse", words.number(result.inlier_rmse)
    yield "by chance", f"{words.probability(result.significance)}, {judged.CHANCE}"
    seconds = result.seconds if found is None else all_steps(result, run.about or About(found))
    total = words.seconds(sum(seconds.values()))
    parts = ", ".join(f"{name}\u00a0{words.seconds(value)}" for name, value in seconds.items())
    yield "time", f"{total} ({parts})" if len(seconds) > 1 else total


def matrix(pose: FloatArray) -> str:
    """Six decimals for the rotation, seven digits of the largest entry for the translation."""
    size = float(np.abs(pose[:3, 3]).max())
    decimals = min(12, max(3, 6 - math.floor(math.log10(size)))) if size > 0.0 else 6
    rows = [[*(f"{v:9.6f}" for v in row[:3]), f"{row[3]:.{decimals}f}"] for row in pose]
    width = max(len(row[3]) for row in rows)
    return "\n".join("  ".join((*row[:3], row[3].rjust(width))) for row in rows)


def _against(truth: Truth | Problem, run: Run) -> str:
    from tear3d.lab.metrics import precision_recall_f1, rotation_error, scale_error, translation_error

    pose, true = run.transformation, truth.transformation
    text = (
        f"rotation {rotation_error(pose, true):.3f}° off, "
        f"translation {words.number(translation_error(pose, true), 3)} off"
    )
    if judged.scale(run.result):
        text += f", scale {100 * scale_error(pose, true):.3f} % off"
    if truth.inlier_mask is None:
        return text
    if run.result.num_inliers == 0:
        return f"{text}\nno pair agrees with it"
    scores = precision_recall_f1(run.result.inlier_mask, truth.inlier_mask)
    return (
        f"{text}\n{100 * scores.recall:.1f} % of the right pairs found, "
        f"{100 * scores.precision:.1f} % of those found are right"
    )


def _clouds(run: Run, found: CloudResult) -> Iterator[tuple[str, str]]:
    assert run.source_cloud is not None
    assert run.target_cloud is not None
    yield (
        "clouds",
        f"{words.count(len(run.source_cloud))} and {words.count(len(run.target_cloud))} points, thinned to "
        f"{words.count(len(found.source_points))} and {words.count(len(found.target_points))}",
    )
    for note in found.notes:
        yield "note", note
    yield "voxel size", f"{found.voxel_size:g}, noise bound {found.noise_bound:g}"
    yield from judged.evidence(found)
    if len(found.tries) > 1:
        yield "tries", "; ".join(f"{judged.tried(each)}: {judged.outcome(each)}" for each in found.tries)
    refinement = found.refinement
    if refinement is None:
        return
    if math.isnan(refinement.fitness):
        yield "refinement", "stopped before it had begun: this is the pose of the matches"
        return
    moved = [found.source_points @ T[:3, :3].T + T[:3, 3] for T in (run.result.transformation, run.transformation)]
    shift = float(np.linalg.norm(moved[1] - moved[0], axis=1).mean())
    early = "" if refinement.converged else ", not converged"
    way = (
        f"moved the points by {words.number(shift, 3)} on average{early}"
        if shift > 0.0
        else "found nothing better: this is the pose of the matches"
    )
    yield (
        "refinement",
        f"{way}; {100 * refinement.fitness:.1f} % of the source within {words.number(refinement.max_distance, 3)} "
        f"of the target, rmse {words.number(refinement.rmse, 3)}",
    )


def _stages(certificate: Certificate, padding: tuple[int, int]) -> Group:
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, padding=padding)
    table.add_column("stage", no_wrap=True)
    for name in ("saved", "at most", "gap", "cells"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ended by")
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
