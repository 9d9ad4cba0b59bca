"""The noise around a pose, measured on windows of residuals of different widths.

Right pairs are Gaussian around zero, wrong ones evenly spread (`judge.noise`). A window that is narrower than a few
standard deviations does not show where the hill of right pairs ends; one that is very wide shows wrong pairs that are
not evenly spread. Those in between agree, whatever noise bound the pose was found with: a plateau. Real matches have
tails, and the wider the window the more of them; then the narrowest one counts that shows the hill and its end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tear3d.judge.noise import fit_noise
from tear3d.problem.arrays import FloatArray, spread_rows

WINDOWS = 2.0 ** (0.5 * np.arange(11))
"""Widths, in the noise bound at which the pose is least likely by chance: from it to 32 times. Free choice: with
Gaussian noise that bound was 1.4 to 10 standard deviations where it was looked at."""
WHOLE = 4.0
"""A window shows where the hill of right pairs ends when it is so many times as wide as their standard deviation:
99.9 % of three Gaussian coordinates lie within it."""
AGREE, LONG = 1.1, 4
"""Gaussian noise has a plateau: so many windows in a row, each √2 times as wide as the one before, whose standard
deviations differ by this factor at most. Free choices."""
MOST = 0.5
"""The hill has at least this share of the pairs that agree at that noise bound: fewer are a peak on it. Free choice,
as all of these: made on Gaussian noise, and on the real pairs on which `benchmarks.noise` measures them."""
WIDER = 3.0
"""Windows up to so many times wider than the narrowest say how much the answer depends on the width. Free choice."""
FEWEST = 4
SAMPLE = 5_000
"""Residuals a window needs, and that are looked at. Free choices."""


class Spread(NamedTuple):
    """Standard deviation of the noise along an axis, in the units of the residuals."""

    sigma: float
    low: float
    high: float
    right: float
    """Pairs it was measured on: the expected number of right ones."""


def measure(residuals: FloatArray, bound: float, axes: int = 3, freedom: int = 6) -> Spread | None:
    """The spread of the residuals around a pose.

    Parameters
    ----------
    residuals : (N,) array
        Of all pairs.
    bound : float
        The noise bound at which the pose is least likely by chance.
    axes : {3, 2}
        Along which pairs can be off: two in a plane.
    freedom : int
        How many numbers the pose has.

    Returns
    -------
    Spread or None
        None when too few pairs are near the pose.
    """
    agree = np.count_nonzero(residuals <= bound)
    fits: list[_Fit] = []
    for width in WINDOWS * bound:
        fit = _fit(residuals, float(width), axes)
        if fit is not None and fit.right >= max(FEWEST, MOST * agree):
            fits.append(fit)
        if _level(fits[-LONG:]):
            break
    if not fits:
        return None
    if _level(fits[-LONG:]):
        chosen, others = fits[-LONG], [fit.sigma for fit in fits[-LONG:]]
    else:
        whole = [fit for fit in fits if fit.whole]
        # The narrowest: real residuals have tails that are no Gaussian's, and a wider one would take in more of them.
        chosen = whole[0] if whole else fits[-1]
        others = [fit.sigma for fit in fits if chosen.width <= fit.width <= WIDER * chosen.width]
    # Three coordinates of each right pair, in a plane two, less the numbers of the pose.
    free = max(1.0, axes * chosen.right - freedom)
    lost = math.sqrt(axes * chosen.right / free)
    error = 2.0 / math.sqrt(2.0 * free * chosen.share)
    low, high = lost * min(others) / (1.0 + error), lost * max(others) * (1.0 + error)
    return Spread(lost * chosen.sigma, low, high, chosen.right)


def _level(fits: list[_Fit]) -> bool:
    """Whether these are a plateau."""
    sigmas = [fit.sigma for fit in fits]
    return len(fits) == LONG and fits[0].whole and max(sigmas) <= AGREE * min(sigmas)


class _Fit(NamedTuple):
    width: float
    sigma: float
    right: float
    """Of all pairs, of which ..."""
    share: float
    """... this share was looked at."""

    @property
    def whole(self) -> bool:
        """Whether it shows where the hill ends."""
        return self.width >= WHOLE * self.sigma


def _fit(residuals: FloatArray, width: float, axes: int) -> _Fit | None:
    near = residuals[residuals <= width]
    if len(near) < FEWEST:
        return None
    near, count = near[spread_rows(len(near), SAMPLE)], len(near)
    squares = (near / width) ** 2
    ones = np.ones(len(near))
    noise = fit_noise(squares, ones, 1.0, axes)
    share = len(near) / count
    return _Fit(width, noise.scale * width, float(noise.right(squares, ones).sum()) / share, share)
