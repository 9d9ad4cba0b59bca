"""A sheet to draw on, by Pillow: lines, boxes, dots and words, smoothed, as PNG."""

from __future__ import annotations

import functools
import io
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tear3d.problem.arrays import FloatArray

WIDTH, HEIGHT = 760, 500
FINER = 2
"""Drawn so many times larger, then shrunk: edges are smooth."""
COLOURS = 192
"""Of the palette: a picture of clouds needs no more, and is a third as large."""
INK, GREY, FAINT = "#2b2b2b", "#6b6b6b", "#e4e4e4"
DASHES = {"dash": (9.0, 6.0), "dot": (2.0, 4.0)}
# The letters that Pillow brings are those of ASCII and few more.
PLAIN = {"ξ": "xi", "−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "×": "x", "√": "root ", "‖": "|", "’": "'"}
RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")


class Canvas:
    """White, `WIDTH` by `HEIGHT`; places are given in its pixels from the top left corner."""

    def __init__(self) -> None:
        self._sheet = Image.new("RGB", (WIDTH * FINER, HEIGHT * FINER), "white")
        self._pen = ImageDraw.Draw(self._sheet)

    def paste(self, pixels: Any, left: int, top: int) -> None:
        """Pixels of the finer sheet, (rows, columns, 3) of bytes."""
        self._sheet.paste(Image.fromarray(pixels), (left * FINER, top * FINER))

    def box(self, corners: Sequence[float], colour: str, edge: str | None = None) -> None:
        left, top, right, bottom = (FINER * float(value) for value in corners)
        self._pen.rectangle(
            (min(left, right), min(top, bottom), max(left, right), max(top, bottom)), fill=colour, outline=edge
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 3.0) -> None:
        self._pen.ellipse([FINER * v for v in (x - radius, y - radius, x + radius, y + radius)], fill=colour)

    def line(self, places: FloatArray, colour: str, width: float = 1.0, dash: str = "solid") -> None:
        """Through (N, 2) places."""
        places = np.asarray(places, dtype=np.float64)
        for piece in _dashed(places, *DASHES[dash]) if dash in DASHES else [places]:
            if len(piece) > 1:
                self._pen.line(
                    [tuple(p) for p in (FINER * piece).tolist()], fill=colour, width=round(width * FINER), joint="curve"
                )

    def words(self, x: float, y: float, text: str, *, size: int = 13, colour: str = INK, anchor: str = "lm") -> float:
        """Write; how wide it came out. Anchors are those of Pillow: left, middle, right, then top, middle, bottom."""
        font, said = _font(size * FINER), plain(text)
        self._pen.text((x * FINER, y * FINER), said, fill=colour, font=font, anchor=anchor)
        return float(self._pen.textlength(said, font=font)) / FINER

    def png(self) -> bytes:
        small = self._sheet.reduce(FINER).quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        colours = np.array(small.getpalette(), dtype=np.uint8).reshape(-1, 3)
        colours[np.argmax(colours.sum(axis=1, dtype=int))] = 255  # white, which the palette only comes near to
        small.putpalette(colours.tobytes())
        out = io.BytesIO()
        small.save(out, "PNG", optimize=True)
        return out.getvalue()


def plain(text: str) -> str:
    """In letters that the font has; what has no such spelling becomes a question mark."""
    text = RAISED.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    parts = unicodedata.normalize("NFKD", "".join(PLAIN.get(letter, letter) for letter in text))
    spelt = "".join(PLAIN.get(letter, letter) for letter in parts if not unicodedata.combining(letter))
    return "".join(letter if letter.isascii() or letter in "°·" else "?" for letter in spelt)


def _dashed(places: FloatArray, drawn: float, gap: float) -> list[FloatArray]:
    """The pieces of a line that are drawn."""
    steps = np.hypot(*np.diff(places, axis=0).T)
    along = np.concatenate(([0.0], np.cumsum(steps)))
    pieces = []
    for start in np.arange(0.0, along[-1], drawn + gap):
        stop = min(start + drawn, along[-1])
        inner = along[(along > start) & (along < stop)]
        at = np.concatenate(([start], inner, [stop]))
        pieces.append(np.column_stack([np.interp(at, along, places[:, k]) for k in (0, 1)]))
    return pieces


@functools.cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)
