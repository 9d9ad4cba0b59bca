"""A result as a card for notebooks: what it says, its pose, and a small picture. Plain HTML and SVG."""

from __future__ import annotations

from html import escape

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.problem.arrays import FloatArray
from tear3d.report import judged, words
from tear3d.report.drawing import SOURCE, TARGET
from tear3d.report.sampling import choose
from tear3d.result import Result

TONES = {"good": "#2e7d32", "warn": "#b26a00", "bad": "#b3261e"}
SIDE, POINTS, STEPS = 220, 1_200, 240
"""Of the picture: pixels, points of each cloud, and points of a curve at most."""


def card(result: Result | CloudResult) -> str:
    """HTML for `_repr_html_`."""
    found = result if isinstance(result, CloudResult) else None
    pairs = result.result if isinstance(result, CloudResult) else result
    told = judged.verdict(pairs, found)
    lines = [told.sentence, *told.reasons]
    if found is not None:
        lines.append(f"voxel size {found.voxel_size:g}, noise bound {found.noise_bound:g}")
    picture = _clouds(found) if found is not None else _search(pairs)
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
    return _svg(dots, "source on target under the pose")


def _dots(points: FloatArray) -> str:
    inside = points[np.abs(points).max(axis=1) <= 1.0] * [1.0, -1.0]
    return "".join(f"M{x:.0f} {y:.0f}h0" for x, y in 0.5 * SIDE * (1.0 + 0.96 * inside))


def _search(result: Result) -> str:
    """What was saved, and what can be at most, over time; nothing without a search."""
    history = result.certificate.stages[0].history if result.certificate.stages else np.empty((0, 3))
    history = history[np.isfinite(history).all(axis=1)]
    if len(history) < 2 or not history[-1, 1] > 0.0:
        return ""
    history = history[np.unique(np.linspace(0, len(history) - 1, STEPS).astype(int))]
    time = (history[:, 0] - history[0, 0]) / max(history[-1, 0] - history[0, 0], 1e-12)
    top = np.log(max(float(history[:, 2].max() / history[-1, 1]), 1.05))
    curves = ""
    for column, colour in ((2, TARGET), (1, SOURCE)):
        high = np.log(np.maximum(history[:, column] / history[-1, 1], 1e-3)) / top
        high = np.clip(high, -0.1, 1.0)
        steps = "".join(f"H{10 + 200 * x:.1f}V{190 - 170 * y:.1f}" for x, y in zip(time, high, strict=True))
        curves += f'<path d="M10 {190 - 170 * high[0]:.1f}{steps}" fill="none" stroke="{colour}" stroke-width="2"/>'
    took = words.seconds(history[-1, 0] - history[0, 0])
    label = f'<text x="10" y="212" font-size="11" fill="currentColor">{took}</text>'
    return _svg(curves + label, "saved, and at most, over time")


def _svg(inner: str, title: str) -> str:
    return (
        f'<svg width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}" role="img" '
        f'style="border:1px solid rgba(128,128,128,.4);border-radius:4px"><title>{escape(title)}</title>{inner}</svg>'
    )
