"""The choice of what the colours of the clouds mean, with a legend for each, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tear3d.report import words
from tear3d.report.scene import Scene
from tear3d.report.shading import Shading
from tear3d.report.shown import gradient

PLAIN, OVERLAP, DISTANCES = "plain", "overlap", "distances"
_LABELS = {"colours": "True colours"}
"""Where the name of the attribute says less."""


def buttons(scene: Scene) -> str:
    """One for each way to colour the clouds; empty when there is but one."""
    names = {PLAIN: "By cloud"} | {f"tint-{k}": _label(one.name) for k, one in enumerate(scene.tints)}
    if scene.shading is not None:
        names |= {OVERLAP: "Overlap"} if scene.shading.lengths.reach is not None else {}
        names |= {DISTANCES: "Distances"}
    if len(names) < 2:
        return ""
    made = (
        f'<button data-paint="{key}" aria-pressed="{str(key == PLAIN).lower()}">{escape(name)}</button>'
        for key, name in names.items()
    )
    return f'<div class="buttons choice"><span>Colours</span>{"".join(made)}</div>'


def choices(*groups: str) -> str:
    """Groups of buttons in a line, as far as they fit."""
    return f'<div class="choices">{"".join(groups)}</div>\n' if any(groups) else ""


def _label(name: str) -> str:
    return _LABELS.get(name, name.capitalize())


def legends(scene: Scene, poses: Sequence[str]) -> str:
    """Those that the buttons show; that of a shading is about one of the poses."""
    parts = [_legend(f"tint-{k}", one.legend) for k, one in enumerate(scene.tints)]
    if scene.shading is not None:
        for pose in poses:
            parts.append(_legend(DISTANCES, _distances(scene.shading, pose), pose))
            if scene.shading.lengths.reach is not None:
                parts.append(_legend(OVERLAP, _overlap(scene.shading, pose), pose))
    return "".join(parts)


def _legend(paint: str, inner: str, pose: str = "") -> str:
    of = f' data-of="{pose}"' if pose else ""
    return f'<p class="legend hidden" data-legend="{paint}"{of}>{inner}</p>\n'


def _distances(shading: Shading, pose: str) -> str:
    beyond = shading.beyond(pose)
    more = f"; {words.part(beyond)} of the points shown are farther" if beyond else ""
    bar = f'<i class="shades" style="background:{gradient()}"></i>'
    end = words.number(shading.end, 3)
    return f"<span>0 {bar} {end} from the target under the pose{escape(more + _thinned(shading))}</span>"


def _overlap(shading: Shading, pose: str) -> str:
    share = shading.overlap(pose)
    have = f"{words.part(share)} of the source points shown have a point of the target {within(shading)}"
    return overlap_key(have, f"{words.part(1.0 - share)} have none")


def overlap_key(near: str, alone: str) -> str:
    """What the colours of the overlap mean."""
    return (
        f'<span><i class="swatch near"></i>{escape(near)}</span>'
        f'<span><i class="swatch alone"></i>{escape(alone)}</span>'
        '<span><i class="swatch faded"></i>target</span>'
    )


def within(shading: Shading) -> str:
    """How near a counterpart is."""
    reach = words.number(shading.lengths.reach or 0.0, 3)
    return f"within {reach}, {shading.lengths.reach_is}{_thinned(shading)}"


def _thinned(shading: Shading) -> str:
    some, every = shading.compared
    return "" if some == every else f" (of {words.count(some)} of its {words.count(every)} points)"
