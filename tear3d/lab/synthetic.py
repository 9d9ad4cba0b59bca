"""Problems with a known answer: the paper's experiment, and outliers that are harder than the paper's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError
from tear3d.lab import shapes

FloatArray = NDArray[np.float64]
OutlierKind = Literal["gaussian", "off_centre", "clustered", "second_motion", "plane"]

NOISE_BOUND_FACTOR = 5.54
"""The paper's noise bound in units of the noise's standard deviation."""
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Problem:
    """Point pairs of which some obey `transformation`."""

    source: FloatArray = field(repr=False)
    target: FloatArray = field(repr=False)
    transformation: FloatArray
    """4×4, target ← source."""
    inlier_mask: NDArray[np.bool_] = field(repr=False)
    """True for the pairs made with `transformation`."""
    noise_bound: float

    @property
    def scale(self) -> float:
        """Target over source."""
        size = float(np.cbrt(np.linalg.det(self.transformation[:3, :3])))
        return 1.0 if abs(size - 1.0) < 1e-9 else size

    @property
    def rotation(self) -> FloatArray:
        turned = self.transformation[:3, :3]
        return turned if self.scale == 1.0 else turned / self.scale

    @property
    def translation(self) -> FloatArray:
        return self.transformation[:3, 3]


def make_problem(
    n: int,
    outlier_ratio: float,
    *,
    cloud: str | ArrayLike | None = None,
    noise: float = 0.01,
    tau: float = 1.67,
    outliers: OutlierKind = "gaussian",
    translation: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    scale: float = 1.0,
    seed: int = 0,
) -> Problem:
    """Pairs y = scale·Rx + t + noise, of which a given share is replaced by outliers.

    Parameters
    ----------
    n : int
        Number of pairs, at least 1.
    outlier_ratio : float
        From 0 to 1. Exactly ``round(n * (1 - outlier_ratio))`` pairs, at random places, are inliers.
    cloud : {"gaussian", "teapot", "ellipsoid"} or (M, 3) array, optional
        Where the source points come from. ``"gaussian"`` (default) is N(0, I). The others are resized into
        [0, 1]³ with one scale for all axes. An array is drawn from without replacement if it has at least
        n points, with replacement otherwise.
    noise : float
        Standard deviation of the Gaussian noise on inliers; the problem's noise bound is 5.54 times it.
    tau : float
        Standard deviation of the outliers' target points.
    outliers : str
        What the wrong pairs look like:

        - ``"gaussian"``: targets from N(0, τ²I), as in the paper.
        - ``"off_centre"``: targets from N(c, τ²I) with ‖c‖ = 3τ, so that no average is near the truth.
        - ``"clustered"``: many-to-one matches: targets lie in ten spots, 0.05τ wide, drawn from N(0, τ²I).
        - ``"second_motion"``: half as many pairs as there are inliers obey another rigid motion, with the
          same noise; the remaining outliers are Gaussian.
        - ``"plane"``: points of one plane matched anywhere on another: sources are flattened onto a plane
          through the cloud's centre, targets lie on a plane through the origin, τ wide, noisy across it.
    translation : (3,) array, optional
        Default: drawn from N(0, I).
    rotation : (3, 3) array, optional
        Default: drawn uniformly.
    scale : float
        Of the inliers' motion: its transformation has it in its 3×3 part.
    seed : int
        Same arguments, same problem. Cloud, motion, places of the inliers and noise draw from
        independent streams, so fixing the motion changes none of the others.

    Returns
    -------
    Problem
    """
    _check(n, outlier_ratio, noise, tau, outliers)
    cloud_rng, motion_rng, place_rng, pair_rng = np.random.default_rng(seed).spawn(4)
    source = _cloud(cloud, n, cloud_rng)
    truth = _motion(motion_rng)
    if rotation is not None:
        truth[:3, :3] = _rotation(rotation)
    if translation is not None:
        truth[:3, 3] = _translation(translation)
    if not 0.0 < scale < np.inf:
        raise InputError(f"scale is {scale!r}: pass a finite positive number")
    truth[:3, :3] *= scale

    num_inliers = round(n * (1.0 - outlier_ratio))
    inlier_mask = np.zeros(n, dtype=np.bool_)
    inlier_mask[:num_inliers] = True
    place_rng.shuffle(inlier_mask)

    target = np.empty_like(source)
    replace = _outlier_maker(outliers, source, num_inliers, noise, tau, pair_rng)
    for start in range(0, n, _BLOCK):
        block = slice(start, min(start + _BLOCK, n))
        inlier = inlier_mask[block]
        target[block][inlier] = _move(truth, source[block][inlier], noise, pair_rng)
        source[block][~inlier], target[block][~inlier] = replace(source[block][~inlier])
    return Problem(source, target, truth, inlier_mask, NOISE_BOUND_FACTOR * noise)


def random_rotation(rng: np.random.Generator) -> FloatArray:
    """A rotation drawn uniformly from SO(3)."""
    w, x, y, z = (q := rng.standard_normal(4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


Replace = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Source points of outliers → the outliers' source and target points."""


def _outlier_maker(
    kind: OutlierKind,
    source: FloatArray,
    num_inliers: int,
    noise: float,
    tau: float,
    rng: np.random.Generator,
) -> Replace:
    def spread(points: FloatArray, scale: float = tau) -> FloatArray:
        drawn = rng.standard_normal(points.shape)
        drawn *= scale
        return drawn

    if kind == "off_centre":
        centre = 3.0 * tau * _direction(rng)
        return lambda points: (points, spread(points) + centre)
    if kind == "clustered":
        spots = tau * rng.standard_normal((10, 3))
        return lambda points: (points, spots[rng.integers(10, size=len(points))] + spread(points, 0.05 * tau))
    if kind == "second_motion":
        second = _motion(rng)
        outliers_left = len(source) - num_inliers
        movers_left = min(num_inliers // 2, outliers_left)

        def moved_or_spread(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            nonlocal outliers_left, movers_left
            count = rng.hypergeometric(movers_left, outliers_left - movers_left, len(points))
            outliers_left -= len(points)
            movers_left -= count
            moved = rng.permutation(len(points))[:count]
            target = spread(points)
            target[moved] = _move(second, points[moved], noise, rng)
            return points, target

        return moved_or_spread
    if kind == "plane":
        centre, normal = source.mean(axis=0), _direction(rng)
        basis, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        widths = np.array([tau, tau, noise])

        def on_planes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            flat = points - np.outer((points - centre) @ normal, normal)
            return flat, (rng.standard_normal(points.shape) * widths) @ basis.T

        return on_planes
    return lambda points: (points, spread(points))


def _cloud(cloud: str | ArrayLike | None, n: int, rng: np.random.Generator) -> FloatArray:
    if cloud is None or (isinstance(cloud, str) and cloud == "gaussian"):
        return rng.standard_normal((n, 3))
    if isinstance(cloud, str):
        if cloud == "teapot":
            return _into_unit_cube(shapes.teapot(n, rng))
        if cloud == "ellipsoid":
            return _into_unit_cube(shapes.ellipsoid(n, seed=rng))
        raise InputError(f"cloud is {cloud!r}: pass 'gaussian', 'teapot', 'ellipsoid' or an (M, 3) array")
    points = np.asarray(cloud, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0:
        raise InputError(f"cloud has shape {points.shape}: pass points as rows (M×3)")
    if not np.isfinite(points).all():
        raise InputError("cloud has NaN or infinite coordinates: remove them first")
    points = points[rng.choice(len(points), n, replace=len(points) < n)]
    return _into_unit_cube(points)


def _into_unit_cube(points: FloatArray) -> FloatArray:
    """Move and scale `points`, in place, by one factor into [0, 1]³."""
    points -= points.min(axis=0)
    extent = points.max(initial=0.0)
    if extent > 0.0:
        points /= extent
    return points


def _move(motion: FloatArray, points: FloatArray, noise: float, rng: np.random.Generator) -> FloatArray:
    moved = rng.standard_normal(points.shape)
    moved *= noise
    moved += points @ motion[:3, :3].T
    moved += motion[:3, 3]
    return moved


def _motion(rng: np.random.Generator) -> FloatArray:
    motion = np.eye(4)
    motion[:3, :3] = random_rotation(rng)
    motion[:3, 3] = rng.standard_normal(3)
    return motion


def _direction(rng: np.random.Generator) -> FloatArray:
    vector = rng.standard_normal(3)
    return vector / np.linalg.norm(vector)


def _rotation(rotation: ArrayLike) -> FloatArray:
    matrix = np.asarray(rotation, dtype=float)
    if matrix.shape != (3, 3):
        raise InputError(f"rotation has shape {matrix.shape}: pass a 3×3 matrix")
    if not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise InputError("rotation is not a rotation matrix: its rows must be orthonormal, its determinant +1")
    return matrix


def _translation(translation: ArrayLike) -> FloatArray:
    vector = np.asarray(translation, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"translation is {translation!r}: pass three finite numbers")
    return vector


def _check(n: int, outlier_ratio: float, noise: float, tau: float, outliers: str) -> None:
    if not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n is {n!r}: pass the number of pairs as a whole number of at least 1")
    if not 0.0 <= outlier_ratio <= 1.0:
        raise InputError(f"outlier_ratio is {outlier_ratio!r}: pass a number from 0 to 1")
    if not 0.0 <= noise < np.inf:
        raise InputError(f"noise is {noise!r}: pass a finite standard deviation of at least 0")
    if not 0.0 < tau < np.inf:
        raise InputError(f"tau is {tau!r}: pass a finite positive standard deviation")
    if outliers not in get_args(OutlierKind):
        raise InputError(f"outliers is {outliers!r}: pass one of {', '.join(get_args(OutlierKind))}")
