"""Problems with several motions: objects that move on their own, among pairs that mean nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError
from tear3d.lab.synthetic import NOISE_BOUND_FACTOR, FloatArray, random_rotation


@dataclass(frozen=True)
class Scene:
    """Point pairs of which some obey one of several motions."""

    source: FloatArray = field(repr=False)
    target: FloatArray = field(repr=False)
    transformations: FloatArray
    """(K, 4, 4), target ← source, one for each object."""
    labels: NDArray[np.int64] = field(repr=False)
    """The object that a pair belongs to, from 1 on; 0 for the pairs that mean nothing."""
    noise_bound: float


def make_scene(
    n: int,
    shares: Sequence[float] = (0.1, 0.07, 0.04),
    *,
    sizes: Sequence[float] | float | None = None,
    transformations: ArrayLike | None = None,
    noise: float = 0.01,
    tau: float = 1.67,
    seed: int = 0,
) -> Scene:
    """Pairs of rigid objects, each of which moves on its own, among pairs that mean nothing.

    Parameters
    ----------
    n : int
        Number of pairs, at least 1.
    shares : sequence of float
        Of the pairs, one for each object: exactly ``round(n * share)`` pairs at random places.
    sizes : float or sequence of float, optional
        How wide the objects are, as the standard deviation of their points along each axis, around a place drawn from
        N(0, I). By default an object's points are spread as those of the whole scene, N(0, I).
    transformations : (K, 4, 4) array, optional
        The motions. Default: rotations drawn uniformly, translations from N(0, I).
    noise : float
        Standard deviation of the Gaussian noise on the objects' pairs; the scene's noise bound is 5.54 times it.
    tau : float
        Standard deviation of the targets of the pairs that mean nothing.
    seed : int
        Same arguments, same scene.
    """
    counts, widths = _checked(n, shares, sizes, noise, tau)
    motion_rng, place_rng, pair_rng = np.random.default_rng(seed).spawn(3)
    motions = _motions(transformations, len(counts), motion_rng)
    labels = np.zeros(n, np.int64)
    labels[: sum(counts)] = np.repeat(np.arange(1, len(counts) + 1), counts)
    place_rng.shuffle(labels)
    source = pair_rng.standard_normal((n, 3))
    target = tau * pair_rng.standard_normal((n, 3))
    for number, (motion, width) in enumerate(zip(motions, widths, strict=True), 1):
        own = labels == number
        if width is not None:
            source[own] = place_rng.standard_normal(3) + width * source[own]
        blurred = noise * pair_rng.standard_normal((np.count_nonzero(own), 3))
        target[own] = source[own] @ motion[:3, :3].T + motion[:3, 3] + blurred
    return Scene(source, target, motions, labels, NOISE_BOUND_FACTOR * noise)


def _motions(given: ArrayLike | None, count: int, rng: np.random.Generator) -> FloatArray:
    motions = np.tile(np.eye(4), (count, 1, 1))
    for motion in motions:
        motion[:3, :3], motion[:3, 3] = random_rotation(rng), rng.standard_normal(3)
    if given is None:
        return motions
    matrices = np.asarray(given, dtype=float)
    if matrices.shape != motions.shape or not np.isfinite(matrices).all():
        raise InputError(f"transformations has shape {matrices.shape}: pass one 4×4 matrix for each of {count} shares")
    return matrices.copy()


def _checked(
    n: int, shares: Sequence[float], sizes: Sequence[float] | float | None, noise: float, tau: float
) -> tuple[list[int], list[float | None]]:
    """How many pairs each object has, and how wide it is."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n is {n!r}: pass the number of pairs as a whole number of at least 1")
    if not all(0.0 <= share <= 1.0 for share in shares) or math.fsum(shares) > 1.0:
        raise InputError(f"shares is {shares!r}: pass numbers from 0 to 1 whose sum is no more than 1")
    widths: list[float | None] = [None] * len(shares)
    if sizes is not None:
        widths = [sizes] * len(shares) if isinstance(sizes, int | float) else list(sizes)
        if len(widths) != len(shares) or not all(width is not None and 0.0 < width < np.inf for width in widths):
            raise InputError(f"sizes is {sizes!r}: pass a positive number, or one for each of {len(shares)} shares")
    if not 0.0 <= noise < np.inf:
        raise InputError(f"noise is {noise!r}: pass a finite standard deviation of at least 0")
    if not 0.0 < tau < np.inf:
        raise InputError(f"tau is {tau!r}: pass a finite positive standard deviation")
    counts = [round(n * share) for share in shares]
    while sum(counts) > n:  # rounding
        counts[int(np.argmax(counts))] -= 1
    return counts, widths
