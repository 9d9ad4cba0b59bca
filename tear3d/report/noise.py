"""The noise bound that was estimated: its interval, and what others would have made of the pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from tear3d.judge.bound import NoiseEstimate
from tear3d.report import axes, words
from tear3d.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Scale
from tear3d.result import Result

_LEAST_DEGREES = 1e-6
"""Where the logarithmic axis of angles begins, at least: smaller ones are rounding."""


def section(result: Result) -> str:
    """The part of the page; empty when the bound was given."""
    noise = result.noise
    if noise is None:
        return ""
    parts = [f'<table class="facts">{_facts(noise)}</table>']
    if len(noise.curve) > 1:
        charts = [_inliers(noise), _significance(noise), _turn(noise)]
        charts += [_scale(noise)] if _has_scales(noise) else []
        parts += [f"<figure>{chart}</figure>" for chart in charts]
    text = "The limits of the call left no time for curves."
    if len(noise.curve) > 1:
        text = (
            "The curves follow the pose from bound to bound. On the plateau neither the pose nor the number of inliers "
            "depends on the bound; the dashed line is the one that was chosen"
            + (", the band the interval." if noise.trusted else ".")
        )
    return (
        '\n<section id="noise">\n<div class="head"><h2>The noise bound</h2></div>\n'
        f'<p>{escape(_sentence(noise))}</p>\n<div class="pair">{"".join(parts)}</div>\n'
        f'<p class="note">{escape(text)}</p>\n</section>'
    )


def _sentence(noise: NoiseEstimate) -> str:
    return noise.sentence[0].upper() + noise.sentence[1:] + "."


def _facts(noise: NoiseEstimate) -> str:
    rows = {"noise bound": words.number(noise.noise_bound)}
    if not math.isnan(noise.sigma):
        rows["between"] = f"{words.number(noise.low, 3)} and {words.number(noise.high, 3)}"
        rows["standard deviation along an axis"] = words.number(noise.sigma)
    for at in noise.curve:
        if at.noise_bound == noise.noise_bound:
            rows["significance there"] = f"{words.probability(at.significance)}, against two other poses at most"
    return "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())


def _inliers(noise: NoiseEstimate) -> str:
    values = [float(at.num_inliers) for at in noise.curve]
    y = Scale(0.8 * max(1.0, min(values)), 1.3 * max(2.0, *values), HEIGHT - BOTTOM, TOP, log=True)
    return _chart(noise, y, "inliers", values, "Inliers against the noise bound")


def _significance(noise: NoiseEstimate) -> str:
    values = [-at.significance for at in noise.curve]
    y = Scale(min(0.0, *values), max(1.0, *values) * 1.1, HEIGHT - BOTTOM, TOP)
    return _chart(noise, y, "significance: minus log10 of a chance", values, "Significance against the noise bound")


def _turn(noise: NoiseEstimate) -> str:
    values = [max(at.degrees, _LEAST_DEGREES) for at in noise.curve]
    positive = [value for value in values if value > _LEAST_DEGREES] or [1.0]
    y = Scale(0.5 * min(positive), 2.0 * max(positive), HEIGHT - BOTTOM, TOP, log=True)
    return _chart(noise, y, "degrees from the pose of the result", values, "Turn of the pose against the noise bound")


def _scale(noise: NoiseEstimate) -> str:
    values = [at.scale for at in noise.curve]
    edge = 0.2 * (max(values) - min(values))
    y = Scale(min(values) - edge, max(values) + edge, HEIGHT - BOTTOM, TOP)
    return _chart(noise, y, "scale, target over source", values, "Scale against the noise bound")


def _has_scales(noise: NoiseEstimate) -> bool:
    """Whether a scale was sought: another at every noise bound."""
    return len({at.scale for at in noise.curve}) > 1


def _chart(noise: NoiseEstimate, y: Scale, label: str, values: Iterable[float], title: str) -> str:
    bounds = [at.noise_bound for at in noise.curve]
    x = Scale(bounds[0], bounds[-1], LEFT, WIDTH - RIGHT, log=True)
    points = [(x(bound), y(value)) for bound, value in zip(bounds, values, strict=True)]
    line = "M" + "L".join(f"{a},{b}" for a, b in points)
    dots = "".join(f'<circle class="dot" cx="{a}" cy="{b}" r="2.5"/>' for a, b in points)
    body = axes.left_axis(y, label) + _band(noise, x) + f'<path class="found" d="{line}"/>{dots}' + _mark(noise, x)
    units = "target" if _has_scales(noise) else "data"
    return axes.svg(body + axes.bottom_axis(x, f"noise bound, in units of the {units}"), title)


def _band(noise: NoiseEstimate, x: Scale) -> str:
    if math.isnan(noise.low):
        return ""
    start, end = (x(min(max(value, x.low), x.high)) for value in (noise.low, noise.high))
    height = HEIGHT - BOTTOM - TOP
    return f'<rect class="between" x="{start}" y="{TOP}" width="{max(1.0, end - start):.1f}" height="{height}"/>'


def _mark(noise: NoiseEstimate, x: Scale) -> str:
    at = x(noise.noise_bound)
    return (
        f'<line class="mark" x1="{at}" x2="{at}" y1="{TOP - 6}" y2="{HEIGHT - BOTTOM}"/>'
        f'<text class="mark" x="{at + 6}" y="{TOP + 4}">ξ = {words.number(noise.noise_bound, 3)}</text>'
    )
