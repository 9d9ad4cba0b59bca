"""Line charts as self-contained SVG that read well on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 42, 50
LEGEND = 22
HEADER = 30
COLOURS = ("#2f7fd6", "#e0662f", "#2a9d74", "#a864c9", "#c9971c", "#d14f7a", "#6d8a96", "#8a6a4f")
_STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #555c66; }
.title { font-weight: 600; font-size: 15px; fill: #2b3138; } .small { font-size: 12px; }
.grid { stroke: #7d8794; stroke-opacity: .25; } .axis { stroke: #7d8794; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) { text { fill: #b3bac4; } .title { fill: #e6e9ed; } }
"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One named curve; `dashed` for figures taken from elsewhere, `step` for counts."""

    name: str
    points: Sequence[Point]
    dashed: bool = False
    step: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart of a figure."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = True
    log_y: bool = True


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        if not self.log:
            step = _step((self.high - self.low) / 5)
            return [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 2:
            fine = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
            return [value for value in fine if self.low <= value <= self.high * 1.000001]
        stride = max(1, math.ceil((last - first) / 6))
        return [10.0**k for k in range(first, last + 1, stride)]


@dataclass(frozen=True)
class _Look:
    """What tells a curve from the others: its colour, and once those are used up, the shape of its marks."""

    colour: str
    shape: int

    def mark(self, x: float, y: float, title: str = "") -> str:
        kind, place = (
            ("circle", f'cx="{x}" cy="{y}" r="3.6"'),
            ("rect", f'x="{x - 3.3:.1f}" y="{y - 3.3:.1f}" width="6.6" height="6.6"'),
            ("path", f'd="M{x} {y - 4.4:.1f}l4.4 7.6h-8.8z"'),
        )[self.shape % 3]
        return f'<{kind} {place} fill="{self.colour}"><title>{escape(title)}</title></{kind}>'


def figure(title: str, panels: Sequence[Panel]) -> str:
    """The SVG text of panels side by side under one title and one legend."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    looks = {name: _Look(COLOURS[k % len(COLOURS)], k // len(COLOURS)) for k, name in enumerate(names)}
    dashed = {line.name for panel in panels for line in panel.lines if line.dashed}
    legend, rows = _legend(looks, dashed, WIDTH * len(panels))
    top = HEADER + LEGEND * rows
    charts = "".join(
        f'<g transform="translate({k * WIDTH} {top})">{_panel(panel, looks)}</g>' for k, panel in enumerate(panels)
    )
    size = f'viewBox="0 0 {WIDTH * len(panels)} {top + HEIGHT}" width="{WIDTH * len(panels)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
        f'<style>{_STYLE}</style><text class="title" x="16" y="22">{escape(title)}</text>{legend}{charts}</svg>\n'
    )


def _legend(looks: dict[str, _Look], dashed: set[str], width: int) -> tuple[str, int]:
    parts, x, row = [], 16.0, 0
    for name, look in looks.items():
        wide = 46 + 7.6 * len(name)
        if x > 16 and x + wide > width:
            x, row = 16.0, row + 1
        y = HEADER + LEGEND * row + 14
        dash = ' stroke-dasharray="5 4"' if name in dashed else ""
        parts.append(
            f'<line x1="{x:.0f}" x2="{x + 22:.0f}" y1="{y - 4}" y2="{y - 4}" stroke="{look.colour}" '
            f'class="line"{dash}/>{look.mark(x + 11, y - 4)}<text x="{x + 28:.0f}" y="{y}">{escape(name)}</text>'
        )
        x += wide
    return "".join(parts), row + 1


def _panel(panel: Panel, looks: dict[str, _Look]) -> str:
    points = [p for line in panel.lines for p in line.points]
    x = _Scale(*_range([p[0] for p in points], panel.log_x, zero=False), LEFT, WIDTH - RIGHT, panel.log_x)
    y = _Scale(*_range([p[1] for p in points], panel.log_y), HEIGHT - BOTTOM, TOP, panel.log_y)
    base = HEIGHT - BOTTOM
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts = [
        f'<text x="16" y="16">{escape(panel.title)}</text><text class="small" x="16" y="32">{escape(panel.y)}</text>',
        f'<text class="small" x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(panel.x)}</text>',
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>',
    ]
    for value in x.ticks():
        parts.append(
            f'<line class="axis" x1="{x(value)}" x2="{x(value)}" y1="{base}" y2="{base + 4}"/>'
            f'<text class="small" x="{x(value)}" y="{base + 18}" text-anchor="middle">{_label(value)}</text>'
        )
    for value in y.ticks():
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value)}" y2="{y(value)}"/>'
            f'<text class="small" x="{LEFT - 8}" y="{y(value) + 4}" text-anchor="end">{_label(value)}</text>'
        )
    parts += [_curve(line, x, y, looks[line.name]) for line in panel.lines if line.points]
    return "".join(parts)


def _curve(line: Line, x: _Scale, y: _Scale, look: _Look) -> str:
    path = f"M{x(line.points[0][0])} {y(line.points[0][1])}"
    for point in line.points[1:]:
        path += f"H{x(point[0])}V{y(point[1])}" if line.step else f"L{x(point[0])} {y(point[1])}"
    dash = ' stroke-dasharray="5 4"' if line.dashed else ""
    drawn = f'<path class="line" d="{path}" stroke="{look.colour}"{dash}/>'
    if line.step:
        return drawn
    return drawn + "".join(look.mark(x(a), y(b), f"{line.name}: {_label(b)} at {_label(a)}") for a, b in line.points)


def _range(values: list[float], log: bool, zero: bool = True) -> tuple[float, float]:
    """A little more than the values need."""
    if not values:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = min(values), max(values)
    if not log and not zero and high > low:
        return low - 0.04 * (high - low), high + 0.04 * (high - low)
    if not log:
        return min(0.0, low), high * 1.05 if high > 0.0 else 1.0
    if low <= 0.0:
        raise ValueError(f"a logarithmic axis cannot show {low:g}")
    margin = max((high / low) ** 0.06, 1.2)
    return low / margin, high * margin


def _step(raw: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(raw))
    return next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= raw * 0.999)


def _label(value: float) -> str:
    exponent = round(math.log10(value)) if value > 0.0 else 0
    if abs(exponent) > 3 and math.isclose(value, 10.0**exponent):
        return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"
