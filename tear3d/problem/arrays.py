"""Arrays from whatever holds points or row numbers, Open3D's objects included, without importing Open3D."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError

FloatArray = NDArray[np.float64]


def as_points(obj: object, name: str) -> NDArray[np.float64]:
    """An (N, 3) float64 array of finite points.

    Parameters
    ----------
    obj : array-like or point cloud
        Anything NumPy understands, an Open3D point cloud (legacy or tensor), or any object with `points`.
    name : str
        What to call it in an error message.
    """
    raw: Any = obj
    if not isinstance(raw, np.ndarray):
        if hasattr(raw, "point") and "positions" in raw.point:
            raw = raw.point["positions"].cpu().numpy()
        elif hasattr(raw, "points"):
            raw = raw.points
    try:
        array = np.asarray(raw)
    except ValueError as error:
        raise InputError(f"{name} cannot be made an array ({error}): pass points as rows (N×3)") from error
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: pass points as rows (N×3)")
    if array.shape[1] != 3:
        rows, columns = array.shape
        raise InputError(f"{name} has {rows} rows and {columns} columns: pass points as rows (N×3)")
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise InputError(f"{name} has dtype {array.dtype}: expected real numbers")
    points = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        bad = len(points) - int(np.count_nonzero(finite))
        raise InputError(
            f"{name} has {bad} of {len(points)} points with NaN or infinite coordinates "
            f"(first at row {int(np.argmin(finite))}): remove them"
        )
    return points


def as_correspondences(obj: object, name: str = "correspondences") -> NDArray[np.int64]:
    """An (M, 2) int64 array of (source row, target row).

    Accepts array-likes, Open3D's `Vector2iVector` and any result with a `correspondence_set`.
    """
    array = np.asarray(getattr(obj, "correspondence_set", obj))
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
