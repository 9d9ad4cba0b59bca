"""The other poses that were found, as HTML: beside the one returned, and in a table."""

from __future__ import annotations

from html import escape

from tear3d.clouds.result import CloudResult
from tear3d.report import boxes, judged, paints, words
from tear3d.report.scene import Scene, other_name
from tear3d.report.sections import table
from tear3d.report.shading import Shading
from tear3d.result import Ambiguity, Result


def section(result: Result, found: CloudResult | None, scene: Scene) -> str:
    """The section on other poses that may be meant, or were found."""
    ambiguity = (result if found is None else found).ambiguity
    bound = judged.runner_up(result)
    if ambiguity is None and not result.alternatives and not bound:
        return ""
    parts = [] if ambiguity is None else [_ambiguous(ambiguity, judged.verdict(result, found).reasons)]
    if result.alternatives:
        parts += [_beside(result, found, scene), _table(result, scene.shading)]
        parts.append(f'<p class="note">{escape(_note(found, scene.shading))}</p>')
    unknown = "How close a pose that is not listed may come is not proven."
    parts.append(f'<p class="note">{escape(f"Proven: {bound}." if bound else unknown)}</p>')
    head = '<section id="others"><div class="head"><h2>Other poses</h2>'
    return f"{head}{_numbers(len(result.alternatives))}</div>{''.join(parts)}</section>\n"


def _numbers(count: int) -> str:
    if count == 0:
        return ""
    made = (
        f'<button data-other="{k}" aria-pressed="{str(k == 1).lower()}" aria-label="Show pose {k}">{k}</button>'
        for k in range(1, count + 1)
    )
    return f'<div class="buttons choice"><span>Beside it, pose</span>{"".join(made)}</div>'


def _beside(result: Result, found: CloudResult | None, scene: Scene) -> str:
    """Two views that turn together: the pose returned, and another one."""
    things = "pairs" if found is None else "matches"
    refined = "d before its refinement" if len(scene.drawn["after"]) > 1 else ""
    returned = f"{words.count(result.num_inliers)} {things} agree{refined}{_covered(scene.shading, '')}"
    captions = []
    for k, one in enumerate(result.alternatives, 1):
        hidden = "" if k == 1 else ' class="hidden"'
        text = f"{words.count(one.num_inliers)} {things} agree{_covered(scene.shading, other_name(k - 1))}."
        captions.append(f'<span data-about-other="{k}"{hidden}><b>Pose {k}.</b> {escape(text)}</span>')
    key = ""
    if scene.shading is not None and scene.shading.lengths.reach is not None:
        near = f"source points with a point of the target {paints.within(scene.shading)}"
        key = f'<p class="legend">{paints.overlap_key(near, "without")}</p>'
    return (
        '<div class="pair views"><figure>'
        '<canvas id="view-returned" tabindex="0" aria-label="The pose returned"></canvas>'
        f"<figcaption><b>The pose returned.</b> {escape(returned)}.</figcaption></figure>"
        '<figure><canvas id="view-other" tabindex="0" aria-label="Another pose"></canvas>'
        f"<figcaption>{''.join(captions)}</figcaption></figure></div>{key}"
    )


def _covered(shading: Shading | None, pose: str) -> str:
    """How much of the source has a counterpart, as the end of a sentence; of the pose returned without a name."""
    if shading is None or shading.lengths.reach is None:
        return ""
    share = shading.overlap(pose or next(iter(shading.distances)))
    return f", {words.part(share)} of the source points shown have a counterpart"


def _table(result: Result, shading: Shading | None) -> str:
    names = ["pose", "saves", "inliers", "by chance", "turn", "shift"]
    chance = words.probability(result.significance)
    rows = [["found", "100\u202f%", words.count(result.num_inliers), chance, "–", "–"]]
    rows += [[f"{k}", *judged.other(result, one)] for k, one in enumerate(result.alternatives, 1)]
    if shading is not None and shading.lengths.reach is not None:
        names.append("overlap")
        for row, pose in zip(rows, ("found", *map(other_name, range(len(result.alternatives)))), strict=True):
            row.append(words.part(shading.overlap(pose)))
    return table(tuple(names), [tuple(row) for row in rows], range(1, len(names)))


def _note(found: CloudResult | None, shading: Shading | None) -> str:
    """What the table is."""
    whose = "pairs" if found is None else "matches"
    text = (
        f"Poses that the search among the {whose} came across, each beside the pose found among the {whose}: what it "
        "saves of what that one does, how many agree, by how much it is turned, and how far off it puts the source's "
        "centre. None of the others was refined."
    )
    if shading is not None and shading.lengths.reach is not None:
        text += f" Overlap: the share of the source points shown with a point of the target {paints.within(shading)}."
    return text


def _ambiguous(ambiguity: Ambiguity, reasons: tuple[str, ...]) -> str:
    """The sentence, unless the top of the page has it, and the motions one by one."""
    parts = []
    if not any(ambiguity.sentence in reason for reason in reasons):
        parts.append(f"<p><b>Ambiguous:</b> {escape(ambiguity.sentence)}.</p>")
    if ambiguity.free:
        free = boxes.items(tuple(map(judged.motion, ambiguity.free)))
        parts.append(
            f"<p>Motions of the source after which it fits as well, in its own coordinates:</p><ul>{free}</ul>"
        )
    return f'<div class="box">{"".join(parts)}</div>' if parts else ""
