"""How the residuals of the pairs that agree with a pose are spread: right pairs around zero, wrong ones evenly.

In units of a pair's noise bound ξ the residual u of a right pair is Gaussian, with standard deviation s along every
axis, and a wrong pair's is uniform; both are seen only where |u| ≤ 1. Wrong pairs are as dense in space for every pair,
so their number within ξ grows with ξ³, or with ξ² where all is in a plane. s and that density are found by expectation
and maximisation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.ranks import median

ROUNDS, CHANGE = 300, 1e-5
"""Rounds at most, and the relative change of s at which they end. All free choices."""
SHELL = 0.8
"""At the start, whatever lies beyond this radius counts as wrong, and the ball inside is as dense with wrong ones."""
FINE = 1e-9
"""How exactly a spread is found that the next round changes again."""
LEAST = 1e-15
"""Smaller spreads are rounding errors of a noise bound's size."""
_BALL = {2: math.pi, 3: 4.0 / 3.0 * math.pi}
_MEDIAN = {2: 1.386, 3: 2.366}
"""Of the square of so many standard Gaussian coordinates."""


class Noise(NamedTuple):
    """The spread of residuals in units of their noise bounds."""

    scale: float
    """s, the standard deviation along an axis."""
    rate: float
    """Wrong pairs per volume, for one right pair; the volume is in cubes of `bound`."""
    bound: float
    """The median of the noise bounds."""
    axes: int = 3

    def right(self, squares: FloatArray, bounds: FloatArray) -> FloatArray:
        """The probabilities that pairs with these |u|² are right."""
        density = np.exp(-0.5 * squares / self.scale**2)
        size = (math.sqrt(2.0 * math.pi) * self.scale) ** self.axes
        wrong = self.rate * (bounds / self.bound) ** self.axes * size
        return np.asarray(density / (density + wrong))


def gaussian_within(radius: float, axes: int = 3) -> float:
    """Probability that three standard Gaussian coordinates, or two, lie in a ball."""
    if axes == 2:
        return -math.expm1(-0.5 * radius**2)
    return math.erf(radius / math.sqrt(2.0)) - math.sqrt(2.0 / math.pi) * radius * math.exp(-0.5 * radius**2)


def square_within(radius: float, axes: int = 3) -> float:
    """E[z₁²; |z| ≤ radius] of three standard Gaussian coordinates, or two."""
    if axes == 2:
        return gaussian_within(radius, 2) - 0.5 * radius**2 * math.exp(-0.5 * radius**2)
    return gaussian_within(radius) - math.sqrt(2.0 / math.pi) / 3.0 * radius**3 * math.exp(-0.5 * radius**2)


def absolute_within(radius: float, axes: int = 3) -> float:
    """E[|z₁|; |z₁| + |z₂| + |z₃| ≤ radius] of three standard Gaussian coordinates; without z₃ of two."""
    top = min(radius, 12.0)
    nodes, weights = _NODES
    z = 0.5 * top * (nodes + 1.0)
    # |z₂| + |z₃| ≤ c is a square with sides of √2·c, |z₂| ≤ c one side of 2·c.
    half = 0.5 if axes == 3 else math.sqrt(0.5)
    side = np.array([math.erf(value) for value in (half * (radius - z)).tolist()])
    inner = z * np.exp(-0.5 * z**2) * side ** (axes - 1)
    return float(0.5 * top * math.sqrt(2.0 / math.pi) * np.sum(weights * inner))


_NODES = np.polynomial.legendre.leggauss(64)


def fit_noise(squares: FloatArray, bounds: FloatArray, reach: float, axes: int = 3) -> Noise:
    """The most likely spread.

    Parameters
    ----------
    squares : (k,) array
        |u|² of all pairs with |u| up to `reach`.
    bounds : (k,) array
        Their noise bounds, in any unit.
    reach : float
    axes : {3, 2}
        Along which they can be off.

    Returns
    -------
    Noise
    """
    bound = median(bounds)
    sizes, ball = (bounds / bound) ** axes, _BALL[axes] * reach**axes
    scale = min(reach, max(math.sqrt(median(squares) / _MEDIAN[axes]), LEAST))
    # Never none: a rate of zero would stay so.
    beyond = np.count_nonzero(squares > (SHELL * reach) ** 2) + 1
    wrong = min(0.9, beyond / len(squares) / (1.0 - SHELL**axes))
    noise = Noise(scale, wrong / (1.0 - wrong) / ball, bound, axes)
    for _ in range(ROUNDS):
        right = noise.right(squares, bounds)
        scale = reach * _scale_of(float(np.sum(right * squares) / np.sum(right)) / (axes * reach**2), axes)
        rate = gaussian_within(reach / scale, axes) * float(np.sum(1.0 - right) / np.sum(right * sizes)) / ball
        before, noise = noise, Noise(scale, rate, bound, axes)
        if abs(scale - before.scale) <= CHANGE * before.scale:
            break
    return noise


def _scale_of(square: float, axes: int) -> float:
    """The standard deviation of a Gaussian that, seen in the ball of radius 1, has this mean square along an axis.

    The mean square grows with it, and is at most its own square, which it nearly is where the ball is wide.
    """
    low, high = max(LEAST, math.sqrt(square)), 1.0
    if low >= high or _excess(low, square, axes) >= -1e-15 * square:
        return min(low, high)
    for _ in range(60):
        scale = 0.5 * (low + high)
        if high - low <= FINE * high:
            break
        if _excess(scale, square, axes) < 0.0:
            low = scale
        else:
            high = scale
    return scale


def _excess(scale: float, square: float, axes: int) -> float:
    """What the mean square in the ball of radius 1 lies above another."""
    return scale**2 * square_within(1.0 / scale, axes) / gaussian_within(1.0 / scale, axes) - square
