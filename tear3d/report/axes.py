"""Scales and ticks of the report's charts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from tear3d.report.words import number, power_of_ten

WIDTH, HEIGHT = 480, 270
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 26, 44


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` onto pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values inside the scale."""
        return _log_ticks(self.low, self.high, most) if self.log else _linear_ticks(self.low, self.high, most)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    raw = (high - low) / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:
        decades = range(first - 1, last + 1)
        fine = [m * 10.0**k for k in decades for m in (1, 2, 5) if low <= m * 10.0**k <= high]
        return fine if len(fine) > 1 else _linear_ticks(low, high, most)
    stride = max(1, math.ceil((last - first + 1) / most))
    return [10.0**k for k in range(first, last + 1, stride)]


def _label(value: float, scale: Scale) -> str:
    if scale.log and not 1e-3 <= value < 1e4 and math.log10(value).is_integer():
        return power_of_ten(math.log10(value))
    return number(value)


def bottom_axis(scale: Scale, label: str) -> str:
    """Ticks and a label below the plot."""
    y = HEIGHT - BOTTOM
    ticks = "".join(
        f'<line x1="{scale(v)}" x2="{scale(v)}" y1="{y}" y2="{y + 4}" class="axis"/>'
        f'<text x="{scale(v)}" y="{y + 17}" text-anchor="middle">{_label(v, scale)}</text>'
        for v in scale.ticks()
    )
    middle = (scale.start + scale.end) / 2
    return (
        f'<line x1="{scale.start}" x2="{scale.end}" y1="{y}" y2="{y}" class="axis"/>{ticks}'
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle" class="label">{escape(label)}</text>'
    )


def left_axis(scale: Scale, label: str) -> str:
    """Grid lines and tick labels; the label stands above the axis."""
    ticks = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{scale(v)}" y2="{scale(v)}" class="grid"/>'
        f'<text x="{LEFT - 7}" y="{scale(v) + 4}" text-anchor="end">{_label(v, scale)}</text>'
        for v in scale.ticks(5)
    )
    return f'{ticks}<text x="6" y="13" class="label">{escape(label)}</text>'


def svg(body: str, description: str, view: str = f"0 0 {WIDTH} {HEIGHT}") -> str:
    """A chart that scales with its column."""
    return f'<svg class="chart" viewBox="{view}" role="img" aria-label="{escape(description)}">{body}</svg>'
