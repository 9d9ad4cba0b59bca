"""The parts of the page as HTML; every text that is not ours is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.lab.metrics import rotation_error, translation_error
from tear3d.problem.arrays import FloatArray
from tear3d.problem.turns import angle_of, axis_of
from tear3d.prove.certificate import POSE
from tear3d.report import charts, judged, words
from tear3d.report.cells import Arcs, SphereCells
from tear3d.report.residuals import Histogram
from tear3d.result import Result, StageCertificate


def facts(rows: dict[str, Any]) -> str:
    """Rows of a two-column table."""
    cells = {name: f"{v:.12g}" if isinstance(v, float) else str(v) for name, v in rows.items()}
    return "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in cells.items())


def pose_section(poses: dict[str, FloatArray], result: Result, clouds: CloudResult | None = None) -> str:
    """The matrices, readable and (hidden, for copying) in full precision, and the last one in words."""
    final = next(reversed(poses.values()))
    turn = final[:3, :3] / np.cbrt(np.linalg.det(final[:3, :3]))
    angle = angle_of(turn)
    axis = axis_of(turn) if angle > 0.0 else np.array([0.0, 0.0, 1.0])
    rows = {
        "maps": f"source points onto target points: y = {'s ' if judged.scale(result) else ''}R x + t",
        "turn": f"{words.number(np.degrees(angle), 5)}° about ({_listed(axis)})",
        "quaternion x, y, z, w": _listed(np.append(np.sin(0.5 * angle) * axis, np.cos(0.5 * angle))),
        "translation": _listed(final[:3, 3], 9),
    }
    if len(poses) > 1:
        found = next(iter(poses.values()))
        angle, shift = rotation_error(found, final), translation_error(found, final)
        rows["refinement moved it by"] = f"{words.number(angle, 3)}° and {words.number(shift, 3)}"
    if judged.scale(result):
        rows["scale"] = judged.scale(result)
    rows["uncertainty"] = judged.uncertainty(result, clouds)
    shift = (result if clouds is None else clouds).centre_shift
    if np.isfinite(shift).all():
        rows["centre of the source moves by"] = _listed(shift)
    captions = dict(_POSE_NAMES)
    if words.poseless(result):
        captions["found"] = "No pose: nothing was sought."
    if result.certificate.agrees:
        captions["found"] += " The certificate is about this pose."
    blocks = [
        f"<figure><pre>{_matrix(pose)}</pre><figcaption>{escape(captions[name])}</figcaption></figure>"
        for name, pose in poses.items()
    ]
    full = "\n".join(" ".join(repr(float(v)) for v in row) for row in final)
    return (
        f'<div class="pair">{"".join(blocks)}<table class="facts">{facts(rows)}</table></div>'
        f'<pre id="pose-text" class="hidden">{full}</pre>'
        f'<pre id="pose-numpy" class="hidden">np.array({escape(str(final.tolist()))})</pre>'
    )


_POSE_NAMES = {
    "found": "Found by the search.",
    "refined": "Refined on the clouds; this is the one to use, and the one that is copied.",
}


def pose_choice(poses: dict[str, FloatArray]) -> str:
    """Buttons that choose the pose of the second view, when there are two."""
    if len(poses) < 2:
        return ""
    last = next(reversed(poses))
    made = "".join(
        f'<button data-pose="{name}" aria-pressed="{str(name == last).lower()}">{name.capitalize()}</button>'
        for name in poses
    )
    return f'<div class="buttons choice"><span>Pose</span>{made}</div>'


def _listed(values: FloatArray, digits: int = 6) -> str:
    return ", ".join(words.number(float(v), digits) for v in values)


def _matrix(pose: FloatArray) -> str:
    cells = [[f"{v: .6f}" for v in row] for row in pose[:3]] + [[f"{v:g}" for v in pose[3]]]
    widths = [max(len(row[j]) for row in cells) for j in range(4)]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in cells)


def residual_words(result: Result, distances: FloatArray, data: Histogram) -> str:
    """What the histogram shows, with the number that warns of a wrong noise bound."""
    inside, outside = distances[result.inlier_mask], distances[~result.inlier_mask]
    rows = {}
    if len(inside):
        rows["inlier pairs"] = f"{words.count(len(inside))}, median residual {words.number(float(np.median(inside)))}"
    if len(outside):
        rows["outlier pairs"] = (
            f"{words.count(len(outside))}, median residual {words.number(float(np.median(outside)))}"
        )
    text = "Both axes are logarithmic: a bar of outliers twice as tall holds many times more pairs. "
    if data.threshold is not None and len(outside):
        near = int(np.count_nonzero((data.edges[:-1] >= data.threshold) & (data.edges[1:] <= 2.01 * data.threshold)))
        start = int(np.argmin(np.abs(data.edges - data.threshold)))
        close = int(data.outliers[start : start + near].sum())
        rows["between ξ and 2ξ"] = f"{words.count(close)} pairs"
        text += (
            "Many pairs just beyond ξ, compared with the inliers, mean that the noise bound is too small; "
            "a gap below ξ means that it could be smaller."
        )
    return f'<table class="facts">{facts(rows)}</table><p class="note">{escape(text)}</p>'


_EXPLANATION = """<details><summary>What is the saving, and what does the gap mean?</summary>
<p>A pose with no inliers at all pays the full price of every pair. Each pair that a pose explains
saves a part of that, and the search looks for the pose that saves most. It covers all possibilities
by cells and computes for each cell what no pose inside it can exceed. A cell that cannot beat the
best pose found is pruned, the others are split. The gap is how much more than the best pose found
any pose could still save, relative to what was found: 0 % is a proof that nothing better exists in
that stage. $what</p></details>"""
_OF_ROWS = "Each stage searches one part of the pose, given the parts found before it."
_HOLDS = "What is proven holds for these pairs and this noise bound: whether the pairs are right is not proven."
_OF_POSE = (
    "The one stage here covers all rotations and translations together. Elsewhere is every pose that puts some point "
    f"of the source more than three noise bounds from where this one puts it. {_HOLDS}"
)
_OF_WHOLE = f"The one stage here covers the whole pose at once. {_HOLDS}"


def stage_table(stages: tuple[StageCertificate, ...]) -> str:
    """One row per stage."""
    far = any(stage.elsewhere is not None for stage in stages)
    names = ("stage", "gap", "saving found", "no more than", *(("elsewhere",) if far else ()), "cells", "ended by")
    rows = [
        (
            stage.name,
            words.percent(stage.gap),
            words.number(stage.saving, 6),
            words.number(stage.saving_bound, 6),
            *((words.number(stage.elsewhere, 6),) if stage.elsewhere is not None else ()),
            words.count(stage.cells),
            words.ENDED_BY.get(stage.ended_by, stage.ended_by),
        )
        for stage in stages
    ]
    what = _OF_POSE if far else _OF_WHOLE if stages[0].name == POSE else _OF_ROWS
    return table(names, rows, stacked=True) + _EXPLANATION.replace("$what", what)


def table(
    names: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    numbers: Sequence[int] | None = None,
    *,
    stacked: bool = False,
) -> str:
    """One that scrolls sideways where it must.

    Columns with `numbers` are aligned to the right, all but the first and the last by default. On narrow screens the
    cells of a `stacked` one stand below each other, each with the name of its column.
    """
    which = range(1, len(names) - 1) if numbers is None else numbers

    def row(tag: str, cells: tuple[str, ...]) -> str:
        parts = []
        for k, (name, cell) in enumerate(zip(names, cells, strict=True)):
            kind = ' class="num"' if k in which else ""
            label = f' data-label="{escape(name)}"' if stacked and tag == "td" else ""
            parts.append(f"<{tag}{kind}{label}>{escape(cell)}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>"

    kind = ' class="stacked"' if stacked else ""
    body = "".join(row("td", cells) for cells in rows)
    return f'<div class="scroll"><table{kind}><thead>{row("th", names)}</thead><tbody>{body}</tbody></table></div>'


def stage_section(stage: StageCertificate, shape: Arcs | SphereCells | None, index: int) -> str:
    """A stage's bound over time and its cells."""
    figures = []
    split = _key("square", "split", "split")
    chart = charts.progress_chart(stage)
    if chart:
        legend = _key("line", "bound", f"{stage.none} saves more") + _key("line", "found", "best found")
        if stage.elsewhere is not None:
            legend += _key("line", "runner", f"{stage.none} elsewhere saves more")
        figures.append(f'<figure>{chart}<p class="legend">{legend}</p></figure>')
    if isinstance(shape, SphereCells):
        canvases = "".join(
            f'<canvas tabindex="0" data-side="{side}" aria-label="Cells of the sphere, {side}"></canvas>'
            for side in ("front", "back")
        )
        if shape.turns:
            text = (
                f"Both sides of the sphere of axes, with {words.count(len(shape.rows))} of the cells: each lies at the "
                "axis of its turn away from the pose found, a larger dot for a larger cell."
            )
            legend = _cell_legend(text, ramp=("searched, half a turn", "no turn"), left=shape.open > 0)
        else:
            found = _key("", "found", "found") if shape.found is not None else ""
            legend = _cell_legend("Two sides of the sphere of directions.", split, found)
        figures.append(f'<figure><div class="sphere" data-sphere="{index}">{canvases}</div>{legend}</figure>')
    elif isinstance(shape, Arcs):
        legend = _cell_legend("The circle of directions left, halved outwards.", split)
        figures.append(f'<figure><div class="rings">{charts.arc_chart(shape)}</div>{legend}</figure>')
    sentence = words.stage_sentence(stage) + ("" if chart else f" {charts.progress_words(stage)}")
    told = f'<p class="note">{escape(sentence.strip())}</p>'
    shown = told + f'<div class="pair">{"".join(figures)}</div>'
    if len(figures) == 1:  # the words fill the place of the other
        shown = f'<div class="pair">{figures[0]}{told}</div>'
    return f'<div class="stage"><h3>{escape(stage.name)}</h3>{shown}</div>'


def _cell_legend(text: str, *keys: str, ramp: tuple[str, str] = ("pruned, early", "late"), left: bool = True) -> str:
    tones = "".join(f'<i class="d{k}"></i>' for k in range(8))
    pruned = f'<span>{ramp[0]}<span class="ramp">{tones}</span>{ramp[1]}</span>'
    more = [_key("square", "open", "still open"), *keys] if left else keys
    return f'<p class="legend"><span>{text}</span>{pruned}{"".join(more)}</p>'


def _key(shape: str, colour: str, text: str) -> str:
    return f'<span><i class="swatch {shape}" style="color:var(--{colour})"></i>{text}</span>'
