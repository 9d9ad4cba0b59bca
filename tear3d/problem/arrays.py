"""Arrays from whatever holds points, numbers or row numbers, Open3D's objects included, without importing Open3D."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError

FloatArray = NDArray[np.float64]
RealArray = NDArray[np.floating[Any]] | NDArray[np.integer[Any]]
Numbers = float | Sequence[float] | RealArray
"""A number, or one per pair."""


class HasPoints(Protocol):
    """A point cloud that keeps its points in `points`, as Open3D's do."""

    @property
    def points(self) -> Any: ...


class HasPositions(Protocol):
    """A tensor point cloud that keeps its points in `point["positions"]`."""

    @property
    def point(self) -> Any: ...


Points = RealArray | Sequence[Sequence[float]] | HasPoints | HasPositions
"""Points as rows, or a point cloud."""

LARGEST = 1e150
"""Coordinates, noise bounds and weights beyond it have squares that float64 cannot hold."""
_BLOCK = 16_384


def as_points(obj: Points, name: str, *, finite: bool = True) -> FloatArray:
    """An (N, 3) float64 array of points.

    Parameters
    ----------
    obj : array-like or point cloud
        Anything NumPy understands, an array with the fields x, y, z, a data frame with such columns, an Open3D point
        cloud (legacy or tensor), or any object with `points`.
    name : str
        What to call it in an error message.
    finite : bool
        Refuse NaN, infinite and huge coordinates; otherwise that is left to `check_finite`.
    """
    array = _array(_unwrapped(obj), name, "pass points as rows (N×3)")
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: pass points as rows (N×3)")
    if array.shape[1] != 3:
        rows, columns = array.shape
        raise InputError(f"{name} has {rows} rows and {columns} columns: pass points as rows (N×3)")
    points = _floats(array, name)
    if finite:
        check_finite(points, name)
    return points


def is_masked(obj: Any) -> bool:
    """Whether it is a masked array: whoever has one has imported what we need not."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and bool(masked.isMaskedArray(obj))


def columns_of(obj: Any) -> int | None:
    """How many columns points have, before they are read; None where they are no table of numbers in memory."""
    raw = _unwrapped(obj)
    if isinstance(raw, list | tuple):
        lengths = {len(row) if isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1 else 0 for row in raw}
        return lengths.pop() if len(lengths) == 1 else None
    if not isinstance(raw, np.ndarray) or is_masked(raw) or raw.ndim != 2 or raw.dtype.kind not in "fiu":
        return None
    return int(raw.shape[1])


def check_finite(points: FloatArray, name: str) -> None:
    """Refuse NaN, infinite and huge coordinates."""
    if len(points) and not max(float(points.max()), -float(points.min())) <= LARGEST:
        _complain(points, name)


class Summary(NamedTuple):
    """What one pass over many points tells."""

    largest: float
    """Of all coordinates, without their signs; NaN if one is."""
    mean: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Summary:
        """In blocks that stay in the cache; sums by matrix products, for NumPy's own are slow along columns."""
        size = len(points)
        edges = range(0, size, _BLOCK)
        largest, total = np.empty(len(edges)), np.zeros(3)
        ones = np.ones(min(size, _BLOCK))
        for number, first in enumerate(edges):
            block = points[first : first + _BLOCK]
            largest[number] = max(block.max(), -block.min())
            with np.errstate(all="ignore"):
                total += ones[: len(block)] @ block
        return cls(float(largest.max()), total / size)


def finite_rows(points: FloatArray) -> NDArray[np.bool_]:
    """Which points have no NaN or infinite coordinate."""
    if len(points) and np.isfinite(points.min()) and np.isfinite(points.max()):
        return np.ones(len(points), bool)
    x, y, z = np.isfinite(points).T
    return np.asarray(x & y & z)


def stored_as(obj: Points) -> str:
    """The type of number that an array or a cloud holds; empty for lists and the like."""
    raw = _unwrapped(obj)
    return np.asarray(raw).dtype.name if hasattr(raw, "dtype") else ""


def covariance_of(points: FloatArray) -> FloatArray:
    """3×3, of points as rows; zero of a single one."""
    return np.cov(points.T) if len(points) > 1 else np.zeros((3, 3))


def spread_rows(n: int, size: int) -> slice | NDArray[np.int64]:
    """At most `size` of n rows, one drawn from each of equal stretches: no period in the data can fool it."""
    stride = -(-n // size)
    if stride <= 1:
        return slice(None)
    count = n // stride
    return np.arange(count) * stride + np.random.default_rng(n).integers(0, stride, count)


def _complain(points: FloatArray, name: str) -> NoReturn:
    bad = ~finite_rows(points)
    if bad.any():
        raise InputError(
            f"{name} has {int(np.count_nonzero(bad))} of {len(points)} points with NaN or infinite coordinates "
            f"(first at row {int(np.argmax(bad))}): remove them"
        )
    row = int(np.argmax(np.abs(points).max(axis=1)))
    raise InputError(f"{name} has coordinates beyond {LARGEST:g} (row {row}): use a larger unit of length")


def as_numbers(values: Numbers, name: str, n: int) -> FloatArray:
    """One finite number ≥ 0 per pair, or a single one that all share."""
    array = np.atleast_1d(_floats(_array(values, name, "expected a number or one per pair"), name))
    if array.ndim != 1 or array.size not in (1, n):
        raise InputError(f"{name} has shape {array.shape}: expected a number or one per pair ({n})")
    if array.size == 1 and not 0.0 <= array[0] <= LARGEST:
        most = f", at most {LARGEST:g}" if array[0] > LARGEST else ""
        raise InputError(f"{name} is {array[0]:g}: expected a finite number, 0 or more{most}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} has NaN or infinite entries (first at {int(np.argmin(np.isfinite(array)))})")
    if np.any(array < 0.0):
        raise InputError(
            f"{name} has negative entries (the first at {int(np.argmax(array < 0.0))}): expected 0 or more"
        )
    if array.max() > LARGEST:
        raise InputError(f"{name} has entries beyond {LARGEST:g} (the first at {int(np.argmax(array > LARGEST))})")
    return np.ascontiguousarray(array)


def as_correspondences(obj: Any, name: str = "correspondences") -> NDArray[np.int64]:
    """An (M, 2) int64 array of (source row, target row).

    Parameters
    ----------
    obj
        An array-like, Open3D's `Vector2iVector`, or any result with a `correspondence_set`.
    name : str
        What it is called in error messages.
    """
    array = _array(getattr(obj, "correspondence_set", obj), name, "pass pairs of row numbers as rows (M×2)")
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} has shape {array.shape}: pass pairs of row numbers as rows (M×2)")
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} has dtype {array.dtype}: expected integer row numbers")
    pairs = array.astype(np.int64)
    if pairs.min() < 0:
        raise InputError(f"{name} has the row number {pairs.min()}: expected none below 0")
    return pairs


def _unwrapped(obj: Any) -> Any:
    if isinstance(obj, np.ndarray):
        fields = not is_masked(obj) and {"x", "y", "z"} <= set(obj.dtype.names or ())
        return np.stack([obj[axis] for axis in "xyz"], axis=-1) if fields else obj
    if hasattr(obj, "columns") and hasattr(obj, "to_numpy"):
        named = {"x", "y", "z"} <= set(obj.columns)
        return np.stack([np.asarray(obj[axis]) for axis in "xyz"], axis=-1) if named else obj
    try:
        return obj.point["positions"].cpu().numpy()
    except (AttributeError, TypeError, KeyError, IndexError):
        return getattr(obj, "points", obj)


def _array(raw: Any, name: str, advice: str) -> NDArray[Any]:
    if is_masked(raw):
        raise InputError(f"{name} is a masked array, and the mask would be lost: pass its valid rows only")
    try:
        return np.asarray(raw)
    except Exception as error:  # whatever a foreign __array__ raises
        raise InputError(f"{name} cannot be made an array ({error}): {advice}") from error


def _floats(array: NDArray[Any], name: str) -> FloatArray:
    """As float64, if these are real numbers: no strings, no complex or truth values, no objects."""
    if array.dtype.kind not in "fiu":
        kind = "numbers too large for float64, or no numbers" if array.dtype == object else f"dtype {array.dtype}"
        raise InputError(f"{name} has {kind}: expected real numbers")
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is refused by the caller
        return np.ascontiguousarray(array, dtype=np.float64)
