"""Colours of points by what their file says of them: true colours, intensity, classification; each with a legend."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.io.cloud import Cloud
from tear3d.io.joining import recoloured
from tear3d.report import words

INTENSITY = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""From weak to strong."""
_ENDS = (2.0, 98.0)
"""Percentiles of all intensities that the colours end at: a few mirrors would leave one colour for all others; free
choice."""
_STEPS = 255
NOTHING = "#8b8b8b"
"""What has no value."""
_MOST = 24
"""Classes with a colour of their own."""
_LAS = {2: "ground", 3: "low vegetation", 4: "medium vegetation", 5: "high vegetation", 6: "building", 9: "water"}
"""What a class means in LAS files of every version."""
_LAS |= {0: "never classified", 1: "unclassified", 7: "low point"}
_CLASSES = (
    *("#a0a0a0", "#c8c8b4", "#a5723b", "#a8d86e", "#5cb83c", "#1f7a2e", "#d9472b", "#ff2fb3", "#f2c230", "#2f7de1"),
    *("#7a4fb0", "#5b6770", "#19b5b5", "#ff8c3a", "#b5862b", "#8a1c4a", "#e48fb8", "#3d4fc4", "#b3d5ff", "#6f6f1e"),
)


@dataclass(frozen=True)
class Tint:
    """The colour of each point of a cloud."""

    rows: NDArray[np.uint8]
    """N×3, or the places of N points in the palette."""
    palette: tuple[str, ...] = ()

    def packed(self, chosen: Any) -> dict[str, Any]:
        """Of some points, as the page has it."""
        text = base64.b64encode(np.ascontiguousarray(self.rows[chosen]).tobytes()).decode("ascii")
        return {"bytes": text, "palette": list(self.palette)}


@dataclass(frozen=True)
class Choice:
    """A way to colour several clouds."""

    name: str
    tints: tuple[Tint | None, ...]
    """Of each cloud; None where it has no such attribute."""
    legend: str
    """HTML."""


def choices(clouds: Sequence[Cloud]) -> list[Choice]:
    """The ways that the attributes of these clouds allow, the most telling first. A column of zeros is none, as LAS
    files have one where nothing was measured."""
    made = (make(clouds) for make in (_true_colours, _classes, _intensity))
    return [one for one in made if any(tint is not None for tint in one.tints)]


def _true_colours(clouds: Sequence[Cloud]) -> Choice:
    found = [cloud.attributes.get("colors") for cloud in clouds]
    tints = tuple(
        None if values is None or not values.any() else Tint(recoloured(values, np.dtype(np.uint8))) for values in found
    )
    return Choice("true colours", tints, f"The colours of the points, as the files have them.{_without(tints)}")


def _intensity(clouds: Sequence[Cloud]) -> Choice:
    found = [_single(cloud, "intensity") for cloud in clouds]
    every = np.concatenate([values[np.isfinite(values)] for values in found if values is not None] or [np.empty(0)])
    if len(every) == 0:
        return Choice("intensity", (None,) * len(clouds), "")
    low, high = (float(value) for value in np.percentile(every, _ENDS))
    palette = (*_between(INTENSITY, _STEPS), NOTHING)
    tints = tuple(None if values is None else Tint(_steps(values, low, high), palette) for values in found)
    if low == high:
        scale = f'<i class="swatch" style="background:{palette[_STEPS // 2]}"></i> {words.number(low)}'
    else:
        ramp = f"linear-gradient(to right, {', '.join(INTENSITY)})"
        bar = f'<i class="scale" style="background:{ramp}"></i>'
        scale = f"{words.number(low)} and less {bar} {words.number(high)} and more"
    missing = any(values is not None and not np.isfinite(values).all() for values in found)
    nothing = f'&ensp;<i class="swatch" style="background:{NOTHING}"></i> no number' if missing else ""
    return Choice("intensity", tints, f"intensity {scale}{nothing}{_without(tints)}")


def _steps(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.uint8]:
    if low == high:
        part = np.sign(values - low) / 2.0 + 0.5
    else:
        part = (values - low) / (high - low)
    steps = np.rint(np.clip(np.where(np.isnan(part), 0.0, part), 0.0, 1.0) * (_STEPS - 1))
    return np.where(np.isfinite(values), steps, _STEPS).astype(np.uint8)


def _classes(clouds: Sequence[Cloud]) -> Choice:
    found = [_single(cloud, "classification") for cloud in clouds]
    every = np.concatenate([values for values in found if values is not None] or [np.empty(0)])
    classes, counts = np.unique(every[np.isfinite(every)], return_counts=True)
    if len(classes) == 0:
        return Choice("classification", (None,) * len(clouds), "")
    shown = np.sort(classes[np.argsort(-counts, kind="stable")[:_MOST]])
    las = all(
        cloud.format in (".las", ".laz") for cloud, values in zip(clouds, found, strict=True) if values is not None
    )
    palette = (*(_CLASSES[int(one) % len(_CLASSES)] for one in shown), NOTHING)
    tints = tuple(None if values is None else Tint(_places(values, shown), palette) for values in found)
    many = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    rows = [
        f'<span><i class="swatch" style="background:{colour}"></i>{_class(one, las)}: {words.count(many[one])}</span>'
        for one, colour in zip(shown.tolist(), palette, strict=False)
    ]
    rest = len(every) - sum(many[one] for one in shown.tolist())
    if rest:
        rows.append(f'<span><i class="swatch" style="background:{NOTHING}"></i>others: {words.count(rest)}</span>')
    return Choice("classification", tints, "".join(rows) + _without(tints))


def _places(values: NDArray[np.float64], shown: NDArray[np.float64]) -> NDArray[np.uint8]:
    at = np.minimum(np.searchsorted(shown, values), len(shown) - 1)
    return np.where(shown[at] == values, at, len(shown)).astype(np.uint8)


def _class(number: float, las: bool) -> str:
    name = _LAS.get(int(number), "") if las else ""
    return f"class {number:g}" + (f", {escape(name)}" if name else "")


def _single(cloud: Cloud, name: str) -> NDArray[np.float64] | None:
    values = cloud.attributes.get(name)
    return None if values is None or values.ndim != 1 or not values.any() else values.astype(np.float64)


def _without(tints: Sequence[Tint | None]) -> str:
    """What becomes of clouds that have none."""
    return "" if all(tint is not None for tint in tints) else " <span>Files without it keep their own colour.</span>"


def _between(stops: Sequence[str], count: int) -> list[str]:
    """Evenly spaced colours of a ramp."""
    known = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in stops], dtype=np.float64)
    at = np.linspace(0.0, len(stops) - 1.0, count)
    mixed = np.column_stack([np.interp(at, np.arange(len(stops)), column) for column in known.T])
    return ["#" + "".join(f"{round(value):02x}" for value in row) for row in mixed]
