"""A result as a card for notebooks: what it says, its pose, and a small picture.

Only what JupyterLab leaves in a notebook that is not trusted: no SVG, no flexible boxes; of a picture the data stand in
the HTML. Without any style, as GitHub shows it, it still reads line by line.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.prove.certificate import POSE
from tear3d.report import judged, words
from tear3d.report.dots import png
from tear3d.report.drawing import SOURCE, TARGET
from tear3d.report.sampling import choose
from tear3d.result import Result

TONES = {"good": "#2e7d32", "warn": "#b26a00", "bad": "#b3261e"}
SIDE, FINER, POINTS = 220, 2, 2_500
"""Of the picture: pixels as it is shown, those of the file for each of them, and points of each cloud at most."""
_SIDE_BY_SIDE = "display:inline-block;vertical-align:top;margin:0 16px 8px 0"


def card(result: Result | CloudResult) -> str:
    """HTML for `_repr_html_`."""
    found = result if isinstance(result, CloudResult) else None
    pairs = result.result if isinstance(result, CloudResult) else result
    told = judged.verdict(pairs, found)
    lines = [told.sentence, *told.reasons]
    if found is not None:
        lines.append(f"voxel size {found.voxel_size:g}, noise bound {found.noise_bound:g}")
    if result.seconds:
        lines.append(f"time {words.seconds(sum(result.seconds.values()))}, of the whole call")
    picture = _clouds(found) if found is not None else _savings(pairs)
    pose = "no pose: nothing was sought"
    if not words.poseless(pairs):
        pose = "\n".join("  ".join(f"{value: .6f}" for value in row) for row in result.transformation)
    said = "".join(f"<div>{escape(line)}</div>" for line in lines if line)
    return (
        '<div style="font-family:sans-serif;font-size:13px;max-width:900px">'
        f'<div style="{_SIDE_BY_SIDE};max-width:620px">'
        f'<div style="font-weight:600;font-size:15px;color:{TONES[told.tone]}">{escape(told.headline)}</div>{said}'
        f'<pre style="margin:8px 0;font-size:12px;line-height:1.35">{escape(pose)}</pre>'
        f'<div style="opacity:0.7">target = pose · source</div></div>{picture}</div>'
    )


def _clouds(found: CloudResult) -> str:
    """Both clouds under the pose, seen along the direction in which the target is thinnest."""
    pose, target = found.transformation, found.target_points
    source = found.source_points[choose(len(found.source_points), POINTS)] @ pose[:3, :3].T + pose[:3, 3]
    target = target[choose(len(target), POINTS)]
    middle = np.median(target, axis=0)
    axes = np.linalg.svd(target - middle, full_matrices=False)[2][:2]
    flat = [(cloud - middle) @ axes.T for cloud in (target, source)]
    reach = float(np.quantile(np.abs(np.concatenate(flat)), 0.98)) or 1.0
    drawn = png([0.96 * part / reach for part in flat], (TARGET, SOURCE), FINER * SIDE)
    inner = (
        f'<img alt="source on target under the pose" width="{SIDE}" height="{SIDE}" '
        f'src="data:image/png;base64,{b64encode(drawn).decode("ascii")}"/>'
    )
    return _figure(inner, _key(SOURCE, "source, under the pose") + _key(TARGET, "target"))


def _savings(result: Result) -> str:
    """What this pose saves, and the most that others do or can, as bars; nothing where no other is known of."""
    bars = [("this pose", 1.0, SOURCE)]
    stages, allowed = result.certificate.stages, "allowed " if result.certificate.scope else ""
    if stages and stages[0].name == POSE and np.isfinite(result.certificate.gap):
        bars.append((f"any {allowed}pose, at most", 1.0 + result.certificate.gap, TARGET))
    if result.certificate.runner_up is not None:
        bars.append((f"any {allowed}pose elsewhere, at most", result.certificate.runner_up, TARGET))
    if result.alternatives and result.saving > 0.0:
        bars.append(("best other pose found", result.alternatives[0].saving / result.saving, SOURCE))
    if len(bars) == 1:
        return ""
    longest = max(share for _, share, _ in bars)
    drawn = "".join(
        f'<div style="font-size:11px;margin-top:6px">{escape(f"{name}: {_of(share, certain=colour == TARGET)}")}</div>'
        f'<div style="width:{max(1.0, 200.0 * share / longest):.1f}px;height:14px;background:{colour}"></div>'
        for name, share, colour in bars
    )
    keys = _key(SOURCE, "found") + _key(TARGET, "proven") if len(bars) > 2 or bars[1][2] == TARGET else ""
    return _figure(f"<div>what poses save</div>{drawn}", keys)


def _of(share: float, *, certain: bool) -> str:
    """In percent: of a bound rounded up."""
    return words.percent(share) if certain else words.part(share)


def _key(colour: str, text: str) -> str:
    return f'<span style="margin-right:10px"><span style="color:{colour}">■</span> {escape(text)}</span> '


def _figure(inner: str, keys: str) -> str:
    return (
        f'<div style="{_SIDE_BY_SIDE};padding:8px;border:1px solid #80808066;border-radius:4px">{inner}'
        f'<div style="font-size:11px;line-height:1.4;margin-top:6px">{keys}</div></div>'
    )
