"""The columns of a file, and the attributes that they are."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.io.cloud import RESERVED, TRIPLES, attribute_problem

Columns = dict[str, NDArray[Any]]
COLOURS = ("red", "green", "blue")
NORMALS = ("nx", "ny", "nz")
GROUPS = {
    "colors": (
        COLOURS,
        ("r", "g", "b"),
        ("diffuse_red", "diffuse_green", "diffuse_blue"),
        ("colorred", "colorgreen", "colorblue"),
    ),
    "normals": (NORMALS, ("normal_x", "normal_y", "normal_z"), ("normalx", "normaly", "normalz")),
}
SINGLE = {
    **dict.fromkeys(("intensity", "scalar_intensity"), "intensity"),
    **dict.fromkeys(("time", "gps_time", "gpstime", "timestamp"), "time"),
    **dict.fromkeys(("classification", "scalar_classification"), "classification"),
}
EXACT = 2.0**53

logger = logging.getLogger(__name__)


def grouped(columns: Mapping[str, NDArray[Any]]) -> Columns:
    """Attributes of a file's columns: red, green and blue become colours, nx, ny and nz normals; names are unified."""
    left = dict(columns)
    found: Columns = {}
    for name, choices in GROUPS.items():
        places = {key.lower(): key for key in reversed(left) if left[key].ndim == 1}
        for choice in choices:
            if name in found or not all(each in places for each in choice):
                continue
            members = [places[each] for each in choice]
            values = np.column_stack([left[member] for member in members])
            fitting = as_colours(values) if name == "colors" else values if values.dtype.kind == "f" else None
            if fitting is not None:
                found[name] = fitting
                left = {key: column for key, column in left.items() if key not in members}
    for key, column in left.items():
        name = SINGLE.get(key.lower(), key)
        found[key if name in found or (name != key and name in left) else name] = column
    return found


def as_colours(values: NDArray[Any]) -> NDArray[Any] | None:
    """Bytes, 16-bit numbers or floats from 0 to 1, whichever these are; None if they are neither."""
    if values.dtype in (np.uint8, np.uint16):
        return values
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        return None
    low, high = values.min(initial=0), values.max(initial=0)
    if low < 0 or high > 65535:
        return None
    if values.dtype.kind == "f" and high <= 1.0:
        return values
    whole = values.astype(np.uint16)
    if not np.array_equal(whole, values):
        return None
    return whole.astype(np.uint8) if high <= 255 else whole


def as_type(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    """As numbers of this type where it holds them all, and as they are otherwise."""
    dtype = np.dtype(kind).newbyteorder("=")
    if dtype.kind == "f" or values.dtype.kind != "f":
        return values.astype(dtype)
    with np.errstate(invalid="ignore"):
        cast = values.astype(dtype)
    fits = np.array_equal(cast, values) and np.abs(values).max(initial=0.0) <= EXACT
    return cast if fits else values


def tidy(path: Path, attributes: Mapping[str, NDArray[Any]], count: int) -> Columns:
    """What of these a cloud of so many points can have, in the byte order of this machine."""
    kept: Columns = {}
    for name, values in attributes.items():
        values = np.asarray(values)
        values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        if attribute_problem(name, values, count) and name not in RESERVED:
            name = f"{name}_"
        problem = attribute_problem(name, values, count)
        if problem:
            logger.warning("%s: the attribute %r %s; it is left out", path, name[:60], problem)
        else:
            kept[name] = values
    return kept


def spread(attributes: Mapping[str, NDArray[Any]], normals: Iterable[str] = NORMALS) -> Columns:
    """Attributes as columns of one number each, under names of visible ascii letters."""
    found: Columns = {}
    ordered = sorted(attributes.items(), key=lambda item: item[0] not in TRIPLES)  # their columns have fixed names
    for name, values in ordered:
        names = [name]
        if values.ndim == 2:
            names = [f"{name}_{i}" for i in range(values.shape[1])]
            names = list({"colors": COLOURS, "normals": tuple(normals)}.get(name, names))
        for one, column in zip(names, values.T if values.ndim == 2 else [values], strict=True):
            found[plain_name(one, (*RESERVED, *found))] = column
    return found


def plain_name(name: str, taken: Iterable[str]) -> str:
    """The name without spaces, separators and foreign letters, unlike those that are taken."""
    plain = re.sub(r"[^\w.+\-/:()\[\]]", "_", name, flags=re.ASCII) or "_"
    while plain in taken:
        plain += "_"
    return plain


def warn_dropped(what: str, names: Iterable[str]) -> None:
    """Say which attributes a format has no place for."""
    listed = ", ".join(names)
    if listed:
        logger.warning("%s has no place for %s: left out", what, listed)
