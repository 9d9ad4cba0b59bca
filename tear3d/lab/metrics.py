"""How far a pose is from the truth, how good an inlier mask is, and when a data set calls it a success."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError

ROUNDED = 1e-9
"""Scales this near to 1 are rotations, rounded."""


class SuccessLimits(NamedTuple):
    """The largest errors that still count as a successful registration."""

    rotation: float
    """Degrees."""
    translation: float
    """Metres."""


LIMITS: dict[str, SuccessLimits] = {
    "3dmatch": SuccessLimits(15.0, 0.30),
    "kitti": SuccessLimits(5.0, 0.60),
    "eth": SuccessLimits(3.0, 0.50),
}
"""Success limits of the paper's data sets."""


class MaskScores(NamedTuple):
    """How well an inlier mask agrees with the true one."""

    precision: float
    recall: float
    f1: float


def rotation_error(estimated: ArrayLike, truth: ArrayLike) -> Any:
    """Angle between two rotations in degrees.

    Parameters
    ----------
    estimated, truth : (..., 3, 3) or (..., 4, 4) array
        Rotations or transformations, scaled or not; leading dimensions broadcast.

    Returns
    -------
    float, or an array for stacked input
        In [0, 180], accurate for angles down to machine precision.
    """
    first, second = (
        matrix[..., :3, :3] / _scales(matrix)[..., None, None]
        for matrix in (_matrices(estimated, "estimated"), _matrices(truth, "truth"))
    )
    relative = np.swapaxes(first, -1, -2) @ second
    # arccos of the trace loses half of the digits near 0 and 180 degrees; the skew part holds sin·axis.
    skew = relative - np.swapaxes(relative, -1, -2)
    sine = np.linalg.norm(skew, axis=(-2, -1)) / np.sqrt(8.0)
    cosine = (np.trace(relative, axis1=-2, axis2=-1) - 1.0) / 2.0
    return _scalar(np.degrees(np.arctan2(sine, cosine)))


def scale_error(estimated: ArrayLike, truth: ArrayLike) -> Any:
    """How far the scale of a similarity is off, as a share of the true one.

    Parameters
    ----------
    estimated, truth : (..., 3, 3) or (..., 4, 4) array
        Scaled rotations or similarities; leading dimensions broadcast.

    Returns
    -------
    float, or an array for stacked input
    """
    first, second = _scales(_matrices(estimated, "estimated")), _scales(_matrices(truth, "truth"))
    return _scalar(np.abs(first / second - 1.0))


def translation_error(estimated: ArrayLike, truth: ArrayLike) -> Any:
    """Euclidean distance between two translations.

    Parameters
    ----------
    estimated, truth : (..., 4, 4) array or (..., 3) array
        Transformations or translations; leading dimensions broadcast. An array whose last two
        dimensions are 4×4 is taken as transformations.

    Returns
    -------
    float, or an array for stacked input
    """
    difference = _translations(estimated, "estimated") - _translations(truth, "truth")
    return _scalar(np.linalg.norm(difference, axis=-1))


def precision_recall_f1(mask: ArrayLike, true_mask: ArrayLike) -> MaskScores:
    """Precision, recall and F1 of an inlier mask; each is 0 where its denominator is.

    Parameters
    ----------
    mask, true_mask : (N,) array of bool
    """
    found, true = np.asarray(mask, dtype=bool), np.asarray(true_mask, dtype=bool)
    if found.ndim != 1 or found.shape != true.shape:
        raise InputError(f"mask has shape {found.shape} and true_mask {true.shape}: pass two masks of the same length")
    hits = np.count_nonzero(found & true)
    num_found, num_true = np.count_nonzero(found), np.count_nonzero(true)
    return MaskScores(
        precision=hits / num_found if num_found else 0.0,
        recall=hits / num_true if num_true else 0.0,
        f1=2.0 * hits / (num_found + num_true) if num_found + num_true else 0.0,
    )


def is_success(estimated: ArrayLike, truth: ArrayLike, dataset: str) -> Any:
    """Whether both errors are within the limits of a data set.

    Parameters
    ----------
    estimated, truth : (..., 4, 4) array
        Transformations in metres. A pose with NaN is no success.
    dataset : {"3dmatch", "kitti", "eth"}

    Returns
    -------
    bool, or an array for stacked input
    """
    if dataset not in LIMITS:
        raise InputError(f"dataset is {dataset!r}: pass one of {', '.join(LIMITS)}")
    for name, value in (("estimated", estimated), ("truth", truth)):
        if np.shape(value)[-2:] != (4, 4):
            raise InputError(f"{name} has shape {np.shape(value)}: pass 4×4 transformations")
    limits = LIMITS[dataset]
    success = np.less_equal(rotation_error(estimated, truth), limits.rotation) & np.less_equal(
        translation_error(estimated, truth), limits.translation
    )
    return _scalar(success)


def registration_recall(estimated: ArrayLike, truth: ArrayLike, dataset: str) -> float:
    """Share of registrations that are successes by the limits of a data set.

    Parameters
    ----------
    estimated, truth : (M, 4, 4) array or sequence of 4×4 arrays
        One transformation per registration, in metres; NaN for a registration that gave no pose.
    dataset : {"3dmatch", "kitti", "eth"}
    """
    poses, true = np.asarray(estimated, dtype=float), np.asarray(truth, dtype=float)
    if poses.ndim != 3 or poses.shape != true.shape or len(poses) == 0:
        raise InputError(
            f"estimated has shape {poses.shape} and truth {true.shape}: pass the same number, at least one, "
            "of 4×4 transformations"
        )
    return float(np.mean(is_success(poses, true, dataset)))


def _matrices(value: ArrayLike, name: str) -> NDArray[np.float64]:
    matrix = np.asarray(value, dtype=float)
    if matrix.shape[-2:] not in ((3, 3), (4, 4)):
        raise InputError(f"{name} has shape {matrix.shape}: pass 3×3 rotations or 4×4 transformations")
    return matrix


def _scales(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of scaled rotations; 1 where that is what rounding leaves, or where there is none."""
    with np.errstate(invalid="ignore"):
        scale = np.cbrt(np.linalg.det(matrix[..., :3, :3]))
    return np.where((np.abs(scale - 1.0) > ROUNDED) & (scale > 0.0), scale, 1.0)


def _translations(value: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(value, dtype=float)
    if array.shape[-2:] == (4, 4):
        return cast(NDArray[np.float64], array[..., :3, 3])
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(f"{name} has shape {array.shape}: pass 4×4 transformations or translations of length 3")
    return array


def _scalar(value: Any) -> Any:
    return value.item() if np.ndim(value) == 0 else value
