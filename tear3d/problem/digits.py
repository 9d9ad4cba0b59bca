"""Digits that were lost before the points came here: coordinates that are, or once were, float32 or float16."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.problem.ranks import nine_tenths

SHARE = 0.1
"""The spacing of the coordinates may be this share of the length that has to be told apart (free choice)."""
MANTISSA = {"float16": 11, "float32": 24}
"""Binary digits, the leading one included."""
USED = 0.25
"""Rounding leaves the last of these digits 1 in half the numbers; grids, whole numbers say, leave it 0 in some column.
A column where fewer than this share have it was not rounded there (free choice, between 0 and ½)."""


def check_lost_digits(points: FloatArray, stored_as: str, name: str, length: float, what: str) -> None:
    """Refuse points whose last digit is too coarse, when they show that digits were cut off there.

    Parameters
    ----------
    points : (N, 3) array
        A sample of them is enough.
    stored_as : str
        What held them: float16 and float32 have lost digits when the last one is used; whole numbers have lost none;
        of anything else the numbers must tell: all of them are float32, and use its last digit in each column.
    name : str
        What to call the points.
    length, what
        What has to be told apart, and its name.
    """
    reach, kind, step = _resolution(points, stored_as)
    if step <= SHARE * length or not _lost(points, stored_as):
        return
    known = "are" if kind == stored_as else "were once"
    raise InputError(
        f"the coordinates of {name} reach {reach:.2g} and {known} {kind}, which resolves {step:.2g} there: "
        f"more than a tenth of the {what} {length:g}. "
        f"Subtract an offset before converting to {kind}, or keep float64"
    )


def least_length(points: FloatArray, stored_as: str) -> float:
    """The smallest length that `check_lost_digits` lets pass; 0 when no digits were lost."""
    return _resolution(points, stored_as)[2] / SHARE if _lost(points, stored_as) else 0.0


def _resolution(points: FloatArray, stored_as: str) -> tuple[float, str, float]:
    """How far points reach, what may have held them, and what that resolves there."""
    kind = stored_as if stored_as in MANTISSA else "float32"
    # Exceeded by one point in ten: a few stray ones lose only their own digits.
    reach = nine_tenths(np.abs(points).max(axis=1))
    return reach, kind, _spacing(reach, kind)


def _lost(points: FloatArray, stored_as: str) -> bool:
    """Whether digits were cut off."""
    if stored_as.startswith(("int", "uint")):
        return False
    kind = stored_as if stored_as in MANTISSA else "float32"
    odd, whole = _last_digits(points, MANTISSA[kind])
    if kind == stored_as:
        return bool(odd.any())
    varied = np.ptp(points, axis=0) > 0.0
    return bool(whole and varied.any() and odd[:, varied].mean(axis=0).min() >= USED)


def _spacing(size: float, kind: str) -> float:
    """Between neighbouring numbers of a kind, whether or not it can hold so large ones."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - MANTISSA[kind])) if size > 0.0 else 0.0


def _last_digits(points: FloatArray, digits: int) -> tuple[NDArray[np.bool_], bool]:
    """Which numbers end in 1 when written with so many binary digits, and whether all can be written so."""
    scaled = np.ldexp(np.frexp(points)[0], digits)
    return np.mod(scaled, 2.0) == 1.0, bool(np.all(scaled == np.floor(scaled)))
