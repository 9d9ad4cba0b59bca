"""All checks of the input, in one place, before any work."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, as_points
from tear3d.problem.losses import LOSSES

BOUNDS = ("sharp", "sweep")
FLAT = 1e-7
"""Points whose spread across their main axis is below this share of the spread along it are collinear."""


@dataclass(frozen=True)
class Pairs:
    """A checked problem. `xi` and `w` have one entry per pair, or a single one that all share."""

    source: FloatArray
    target: FloatArray
    xi: FloatArray
    w: FloatArray

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True)
class Options:
    """Checked options of `register`."""

    loss: str = "tear"
    time_limit: float | None = None
    node_limit: int | None = None
    rel_gap: float = 1e-3
    threads: int = 1
    seed: int = 0
    certify: bool | str = True
    progress: Callable[..., object] | None = None
    bounds: str = "sharp"

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("progress", "threads")}


def check_pairs(source: Any, target: Any, noise_bound: Any, weights: Any) -> Pairs:
    """The pairs as float64 arrays, or an InputError that says what is wrong and what is expected."""
    x, y = as_points(source, "source"), as_points(target, "target")
    if len(x) != len(y):
        raise InputError(
            f"source has {len(x)} points and target {len(y)}: row i of one must be matched to row i of the other"
        )
    if len(x) < 3:
        raise InputError(f"source has {len(x)} points: a pose needs at least 3 pairs")
    xi = _per_pair(noise_bound, "noise_bound", len(x))
    if not np.any(xi > 0.0):
        raise InputError("noise_bound is 0 for every pair: at least 3 pairs need a positive one")
    w = np.ones(1) if weights is None else _per_pair(weights, "weights", len(x))
    if np.ndim(noise_bound) == 0 and xi[0] <= 0.0:
        raise InputError(f"noise_bound is {xi[0]:g}: expected a positive number in the units of the points")
    if w.size > 1 and np.all(w == w[0]) and w[0] > 0.0:
        w = w[:1]
    if xi.size > 1 and np.all(xi == xi[0]):
        xi = xi[:1]
    usable = np.broadcast_to((xi > 0.0) & (w > 0.0), len(x))
    if np.count_nonzero(usable) < 3:
        raise InputError(
            f"only {np.count_nonzero(usable)} pairs have a positive weight and noise bound: expected at least 3"
        )
    alive = x if usable.all() else x[usable]
    _check_spread(alive, "source")
    _check_spread(y if usable.all() else y[usable], "target")
    return Pairs(x, y, xi, w)


def check_options(
    *, loss: object, time_limit: object, node_limit: object, rel_gap: object, threads: object, seed: object,
    certify: object, progress: object, bounds: object,
) -> Options:  # fmt: skip
    """The options, or an InputError."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise InputError(f"loss is {loss!r}: expected one of {', '.join(map(repr, LOSSES))}")
    if not isinstance(bounds, str) or bounds not in BOUNDS:
        raise InputError(f"bounds is {bounds!r}: expected one of {', '.join(map(repr, BOUNDS))}")
    if not isinstance(certify, bool | np.bool_) and certify != "full":
        raise InputError(f"certify is {certify!r}: expected True, False or 'full'")
    if certify == "full" and loss != "tear":
        raise InputError(f"certify is 'full' and loss {loss!r}: the full certificate is for loss='tear' only")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}: expected a function of one argument")
    gap = _number(rel_gap, "rel_gap")
    if not 0.0 < gap < 1.0:
        raise InputError(f"rel_gap is {gap:g}: expected a number between 0 and 1, such as 0.001")
    limit = None if time_limit is None else _number(time_limit, "time_limit")
    if limit is not None and not limit >= 0.0:
        raise InputError(f"time_limit is {limit:g}: expected seconds, 0 or more")
    return Options(
        loss=str(loss),
        time_limit=limit,
        node_limit=None if node_limit is None else _integer(node_limit, "node_limit", 0),
        rel_gap=gap,
        threads=(os.cpu_count() or 1) if threads is None else _integer(threads, "threads", 1),
        seed=_integer(seed, "seed", 0),
        certify="full" if isinstance(certify, str) else bool(certify),
        progress=progress,
        bounds=str(bounds),
    )


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}: expected a number") from None
    if np.isnan(number):
        raise InputError(f"{name} is NaN: expected a number")
    return number


def _integer(value: Any, name: str, least: int) -> int:
    number = _number(value, name)
    if not np.isfinite(number) or number != int(number) or number < least:
        raise InputError(f"{name} is {value!r}: expected a whole number, {least} or more")
    return int(number)


def _per_pair(values: Any, name: str, n: int) -> FloatArray:
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"{name} is not numeric: expected a number or one per pair") from None
    if array.ndim != 1 or array.size not in (1, n):
        raise InputError(f"{name} has shape {array.shape}: expected a number or one per pair ({n})")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} has NaN or infinite entries")
    if np.any(array < 0.0):
        raise InputError(
            f"{name} has negative entries (the first at {int(np.argmax(array < 0.0))}): expected 0 or more"
        )
    return np.ascontiguousarray(array)


def _check_spread(points: FloatArray, name: str) -> None:
    centred = points[:: max(1, len(points) // 100_000)] if len(points) > 200_000 else points
    centred = centred - centred.mean(axis=0)
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.T @ centred / len(centred)), 0.0))
    size = max(float(np.abs(points[0]).max()), float(np.abs(centred).max()))
    if spread[2] <= 1e-12 * size:
        raise InputError(f"all {name} points coincide: a rotation needs points in different places")
    if spread[1] <= max(FLAT * spread[2], 1e-12 * size):
        raise InputError(f"all {name} points lie on one line: the rotation about it cannot be found")
