"""Just enough of a plotting library: lines and labels on linear or logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

INK, FAINT, PAPER = "#24292f", "#d0d7de", "#ffffff"
ORANGE, BLUE, GREEN, RED, GREY = "#e0700f", "#2c6cb0", "#0b8f63", "#c2415f", "#6e7781"
_FONT = "font-family='Helvetica, Arial, sans-serif'"


def document(width: float, height: float, body: Iterable[str], title: str) -> str:
    """A white card, so that the figure reads on light and dark pages alike."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' {_FONT} font-size='13'>"
        f"<title>{escape(title)}</title>"
        f"<rect width='{width:g}' height='{height:g}' rx='8' fill='{PAPER}'/>{''.join(body)}</svg>\n"
    )


def text(x: float, y: float, words: str, *, colour: str = INK, anchor: str = "start", more: str = "") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='{colour}' text-anchor='{anchor}' {more}>{escape(words)}</text>"


def save(path: Path, svg: str) -> None:
    path.write_text(svg, encoding="utf-8")


@dataclass
class Axis:
    """Maps data to pixels; `ticks` are the values that get a label."""

    low: float
    high: float
    ticks: Sequence[float]
    label: str
    log: bool = False

    def place(self, values: ArrayLike, start: float, end: float) -> np.ndarray:
        data, low, high = np.asarray(values, dtype=float), self.low, self.high
        if self.log:
            data, low, high = np.log(data), np.log(low), np.log(high)
        return start + (end - start) * (data - low) / (high - low)


@dataclass
class Plot:
    """One pair of axes inside the rectangle (left, top, right, bottom) of a figure."""

    x: Axis
    y: Axis
    box: tuple[float, float, float, float] = (62, 34, 520, 268)
    title: str = ""
    body: list[str] = field(default_factory=list)

    def points(self, xs: ArrayLike, ys: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        left, top, right, bottom = self.box
        return self.x.place(xs, left, right), self.y.place(ys, bottom, top)

    def line(self, xs: ArrayLike, ys: ArrayLike, colour: str, *, dash: str = "", width: float = 2.0) -> None:
        px, py = self.points(xs, ys)
        _, top, _, bottom = self.box
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, np.clip(py, top, bottom), strict=True))
        dashes = f"stroke-dasharray='{dash}'" if dash else ""
        self.body.append(
            f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='{width}' "
            f"stroke-linejoin='round' {dashes}/>"
        )

    def dots(self, xs: ArrayLike, ys: ArrayLike, colour: str) -> None:
        for a, b in zip(*self.points(xs, ys), strict=True):
            self.body.append(f"<circle cx='{a:.1f}' cy='{b:.1f}' r='3.2' fill='{colour}'/>")

    def label(self, x: float, y: float, words: str, colour: str, anchor: str = "start") -> None:
        px, py = self.points([x], [y])
        self.body.append(text(float(px[0]), float(py[0]), words, colour=colour, anchor=anchor))

    def draw(self) -> str:
        left, top, right, bottom = self.box
        out = []
        for tick, at in zip(self.x.ticks, self.x.place(self.x.ticks, left, right), strict=True):
            out.append(f"<line x1='{at:.1f}' x2='{at:.1f}' y1='{top}' y2='{bottom}' stroke='{FAINT}'/>")
            out.append(text(at, bottom + 18, f"{tick:g}", colour=GREY, anchor="middle"))
        for tick, at in zip(self.y.ticks, self.y.place(self.y.ticks, bottom, top), strict=True):
            out.append(f"<line x1='{left}' x2='{right}' y1='{at:.1f}' y2='{at:.1f}' stroke='{FAINT}'/>")
            out.append(text(left - 7, at + 4, f"{tick:g}", colour=GREY, anchor="end"))
        out.append(text((left + right) / 2, bottom + 38, self.x.label, anchor="middle"))
        out.append(text(left - 40, top - 14, self.y.label))
        if self.title:
            out.append(text(right, top - 14, self.title, anchor="end", more="font-weight='bold'"))
        return "".join(out + self.body)
