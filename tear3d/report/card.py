"""A result as a card for notebooks: what it says, its pose, and a small picture. Plain HTML and SVG."""

from __future__ import annotations

from html import escape

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.problem.arrays import FloatArray
from tear3d.prove.certificate import POSE
from tear3d.report import judged, words
from tear3d.report.drawing import SOURCE, TARGET
from tear3d.report.sampling import choose
from tear3d.result import Result

TONES = {"good": "#2e7d32", "warn": "#b26a00", "bad": "#b3261e"}
SIDE, POINTS = 220, 1_200
"""Of the picture: pixels, and points of each cloud at most."""


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
        '<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start;font-family:sans-serif;font-size:13px;'
        'max-width:900px"><div style="flex:1 1 320px">'
        f'<div style="font-weight:600;font-size:15px;color:{TONES[told.tone]}">{escape(told.headline)}</div>{said}'
        f'<pre style="margin:8px 0;font-size:12px;line-height:1.35">{escape(pose)}</pre>'
        f'<div style="opacity:.7">target = pose · source</div></div>{picture}</div>'
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
    dots = "".join(
        f'<path d="{_dots(part / reach)}" stroke="{colour}" stroke-width="2" stroke-linecap="round"/>'
        for part, colour in zip(flat, (TARGET, SOURCE), strict=True)
    )
    keys = _key(SOURCE, "source, under the pose") + _key(TARGET, "target")
    return _figure(dots, "source on target under the pose", keys)


def _dots(points: FloatArray) -> str:
    inside = points[np.abs(points).max(axis=1) <= 1.0] * [1.0, -1.0]
    return "".join(f"M{x:.0f} {y:.0f}h0" for x, y in 0.5 * SIDE * (1.0 + 0.96 * inside))


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
        f'<text x="10" y="{26 + 48 * k}" font-size="11" fill="currentColor">'
        f"{escape(f'{name}: {_of(share, certain=colour == TARGET)}')}</text>"
        f'<rect x="10" y="{32 + 48 * k}" width="{max(1.0, 200.0 * share / longest):.1f}" height="14" fill="{colour}"/>'
        for k, (name, share, colour) in enumerate(bars)
    )
    keys = _key(SOURCE, "found") + _key(TARGET, "proven") if len(bars) > 2 or bars[1][2] == TARGET else ""
    return _figure(drawn, "what poses save, in % of this one", f"what poses save<br/>{keys}", 16 + 48 * len(bars))


def _of(share: float, *, certain: bool) -> str:
    """In percent: of a bound rounded up."""
    return words.percent(share) if certain else words.part(share)


def _key(colour: str, text: str) -> str:
    return f'<span style="margin-right:10px"><span style="color:{colour}">■</span> {escape(text)}</span>'


def _figure(inner: str, title: str, keys: str, height: int = SIDE) -> str:
    return (
        f'<div style="width:{SIDE}px"><svg width="{SIDE}" height="{height}" viewBox="0 0 {SIDE} {height}" role="img" '
        f'style="border:1px solid rgba(128,128,128,.4);border-radius:4px"><title>{escape(title)}</title>{inner}</svg>'
        f'<div style="font-size:11px;line-height:1.4">{keys}</div></div>'
    )
