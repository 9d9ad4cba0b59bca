"""Clouds from what others keep them in: fields, data frames, Open3D. None of them is imported for that."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.io.checks import load_package
from tear3d.io.cloud import Cloud
from tear3d.io.columns import grouped, warn_dropped
from tear3d.io.joining import recoloured
from tear3d.problem.arrays import as_points

AXES = ("x", "y", "z")

logger = logging.getLogger(__name__)


def cloud_of(obj: Any) -> Cloud:
    if isinstance(obj, Cloud):
        return obj
    if isinstance(obj, np.ndarray) and obj.dtype.names:
        return _from_columns({name: obj[name] for name in obj.dtype.names})
    if hasattr(obj, "columns") and hasattr(obj, "to_numpy"):
        return _from_columns({str(name): np.asarray(obj[name]) for name in obj.columns})
    if hasattr(obj, "point") or (hasattr(obj, "points") and hasattr(obj, "normals")):
        return from_open3d(obj)
    return Cloud(as_points(obj, "points", finite=False))


def from_open3d(cloud: Any) -> Cloud:
    if hasattr(cloud, "point"):
        found = {str(name): values.cpu().numpy() for name, values in cloud.point.items()}
        points = found.pop("positions", np.empty((0, 3)))
    elif hasattr(cloud, "points"):
        points = np.asarray(cloud.points)
        found = {name: np.asarray(getattr(cloud, name, ())) for name in ("colors", "normals")}
        found = {name: np.array(values) for name, values in found.items() if len(values)}
    else:
        raise InputError(f"cloud is of type {type(cloud).__name__}: expected a point cloud of Open3D")
    points = np.array(as_points(points, "points", finite=False))
    return Cloud(points, {n: v[:, 0] if v.ndim == 2 and v.shape[1] == 1 else v for n, v in found.items()})


def to_open3d(cloud: Cloud) -> Any:
    o3d = load_package("open3d", "open3d", "clouds of Open3D")
    made = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(cloud.points))
    if "colors" in cloud.attributes:
        colours = recoloured(cloud.attributes["colors"], np.dtype(np.float64))
        made.colors = o3d.utility.Vector3dVector(colours)
    if "normals" in cloud.attributes:
        made.normals = o3d.utility.Vector3dVector(cloud.attributes["normals"].astype(np.float64))
    warn_dropped("Open3D's point cloud", [name for name in cloud.attributes if name not in ("colors", "normals")])
    return made


def _from_columns(columns: Mapping[str, NDArray[Any]]) -> Cloud:
    names = {name.lower(): name for name in reversed(list(columns))} | {name: name for name in columns}
    missing = [axis for axis in AXES if axis not in names]
    if missing:
        raise InputError(f"points has no column {missing[0]!r}, only {', '.join(columns)[:100]}: expected x, y and z")
    axes = [names[axis] for axis in AXES]
    for axis in axes:
        if columns[axis].ndim != 1 or columns[axis].dtype.kind not in "iuf":
            raise InputError(f"the column {axis!r} has dtype {columns[axis].dtype}: expected numbers")
    others = {name: values for name, values in columns.items() if name not in axes}
    for name in [name for name, values in others.items() if values.dtype.kind not in "biuf"]:
        logger.warning("the column %s is left out: it does not hold numbers", name)
        del others[name]
    points = np.column_stack([columns[axis].astype(np.float64) for axis in axes])
    return Cloud(points, grouped({name: np.ascontiguousarray(values) for name, values in others.items()}))
