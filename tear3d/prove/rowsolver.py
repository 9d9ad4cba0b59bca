"""The two tear-offs of a centred problem, by the sharp or the sweep bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR, caps
from tear3d.problem.validation import Options, Pairs
from tear3d.prove.row.points import RowPoints, pack_points
from tear3d.prove.row.sharp import needs_double, solve_sharp
from tear3d.prove.row.sweep import RowSolution, solve_arc_sweep, solve_row_sweep

COPY_LIMIT = 200_000
CHUNK = 500_000
DOUBLE_LIMIT = 50_000
"""Problems up to this size are searched in float64, larger ones in float32 if that does not cost the certificate."""
FAR_OFF = 1e3
"""More pairs than COPY_LIMIT are centred in place of being copied unless they lie this far off, in spreads."""


@dataclass(frozen=True)
class Centred:
    """The pairs in coordinates with both means at the origin (or close enough to it)."""

    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray
    source_mean: FloatArray
    target_mean: FloatArray
    x_mean: FloatArray
    """What is left of the mean of x: zero unless the pairs are too many to copy."""
    y_mean: FloatArray
    radius: float
    """Root mean square distance of x from its mean."""
    source_covariance: FloatArray
    target_covariance: FloatArray

    @property
    def target_radius(self) -> float:
        return float(np.sqrt(np.trace(self.target_covariance)))

    def swapped(self) -> Centred:
        """The same pairs with source and target in each other's role."""
        return replace(
            self,
            x=self.y,
            y=self.x,
            source_mean=self.target_mean,
            target_mean=self.source_mean,
            x_mean=self.y_mean,
            y_mean=self.x_mean,
            radius=self.target_radius,
            source_covariance=self.target_covariance,
            target_covariance=self.source_covariance,
        )

    @staticmethod
    def of(pairs: Pairs) -> Centred:
        source, target = pairs.source, pairs.target
        source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
        sample = slice(None, None, max(1, len(source) // 100_000))
        spread = source[sample] - source_mean
        covariance = np.cov(target[sample].T)
        radius = float(np.sqrt(np.mean(np.sum(spread**2, axis=1))))
        size = float(np.sqrt(np.trace(covariance)))
        zero = np.zeros(3)
        far = max(np.abs(source_mean).max() / radius, np.abs(target_mean).max() / size) > FAR_OFF
        if len(source) <= COPY_LIMIT or far:
            x, y, x_mean, y_mean = source - source_mean, target - target_mean, zero, zero
        else:
            x, y, x_mean, y_mean = source, target, source_mean, target_mean
            source_mean = target_mean = zero
        means = source_mean, target_mean, x_mean, y_mean
        return Centred(x, y, pairs.xi, pairs.w, *means, radius, np.cov(spread.T), covariance)

    @property
    def typical_bound(self) -> float:
        return float(np.median(self.xi[self.xi > 0.0]))

    def total(self, loss: int) -> float:
        """Σ w·cap: the objective when every pair is an outlier."""
        product = self.w * caps(loss, self.xi)
        return float(product[0]) * len(self.x) if product.size == 1 else float(product.sum())

    def band(self, u: FloatArray, row: RowSolution, loss: int) -> Band:
        """The pairs that the first row leaves over, with what is left of their thresholds."""
        parts = []
        for begin in range(0, len(self.x), CHUNK):
            part = slice(begin, min(begin + CHUNK, len(self.x)))
            index = np.arange(part.start, part.stop)
            xi, w = (values if values.size == 1 else values[part] for values in (self.xi, self.w))
            parts.append(Band(index, xi, w)._cut(self.y[part] @ u - self.x[part] @ row.r - row.t, loss))
        return Band(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("index", "xi", "w")))


@dataclass(frozen=True)
class Band:
    """Some of the pairs with their own thresholds."""

    index: NDArray[np.int64]
    xi: FloatArray
    w: FloatArray

    def _cut(self, z: FloatArray, loss: int) -> Band:
        """Keep |z| ≤ ξ; ξ shrinks by what the residual has used up (paper, Hyperparameter Setup)."""
        z = np.abs(z)
        keep = np.flatnonzero(z <= self.xi)
        xi = np.broadcast_to(self.xi, z.shape)[keep]
        left = xi - z[keep] if loss == TEAR else np.sqrt(np.maximum(0.0, xi**2 - z[keep] ** 2))
        return Band(self.index[keep], left, np.ascontiguousarray(np.broadcast_to(self.w, z.shape)[keep]))

    def coordinate(self, p: Centred, axis: FloatArray, r: FloatArray) -> FloatArray:
        return p.y[self.index] @ axis - p.x[self.index] @ r

    def then(self, p: Centred, v: FloatArray, row: RowSolution, loss: int) -> Band:
        return self._cut(self.coordinate(p, v, row.r) - row.t, loss) if len(self.index) else self


def solve_first_row(
    p: Centred,
    u: FloatArray,
    incumbent: tuple[FloatArray, float],
    loss: int,
    options: Options,
    limits: Limits,
) -> RowSolution:
    """The first tear-off, along u: y·u ≈ r·x + t over all unit r and all t."""
    if loss == TEAR and options.bounds == "sharp":
        return _sharp(p, p.x, p.y, p.xi, p.w, u, incumbent, options, limits, None, "first row")
    shift = float(p.y_mean @ u)
    return _moved_back(
        p,
        solve_row_sweep(
            p.x - p.x_mean, p.y @ u - shift, _shared(p.xi), _shared(p.w), loss=loss, rel_gap=options.rel_gap,
            limits=limits, threads=options.threads, incumbent=_moved_in(p, incumbent, shift), stage="first row",
        ),
        shift,
    )  # fmt: skip


def solve_second_row(
    p: Centred, band: Band, v: FloatArray, incumbent: tuple[FloatArray, float], r1: FloatArray, loss: int,
    options: Options, limits: Limits,
) -> RowSolution:  # fmt: skip
    """The second tear-off, along v, over the unit r orthogonal to the first row, for the pairs in its band."""
    x, y = p.x[band.index], p.y[band.index]
    if len(x) == 0:
        empty = np.empty((0, 3)), np.empty((0, 6))
        return RowSolution(incumbent[0], incumbent[1], 0.0, 0.0, 0, True, "gap", 0.0, *empty)
    if loss == TEAR and options.bounds == "sharp":
        return _sharp(p, x, y, band.xi, band.w, v, incumbent, options, limits, r1, "second row")
    shift = float(p.y_mean @ v)
    return _moved_back(
        p,
        solve_arc_sweep(
            x - p.x_mean, y @ v - shift, band.xi, band.w, r1, loss=loss, rel_gap=options.rel_gap, limits=limits,
            threads=options.threads, incumbent=_moved_in(p, incumbent, shift), stage="second row",
        ),
        shift,
    )  # fmt: skip


def _shared(values: FloatArray) -> FloatArray:
    """One value for all as a number, which the sweep solvers take."""
    return values[0] if values.size == 1 else values


def _moved_in(p: Centred, pose: tuple[FloatArray, float], shift: float) -> tuple[FloatArray, float]:
    return pose[0], pose[1] + float(pose[0] @ p.x_mean) - shift


def _moved_back(p: Centred, row: RowSolution, shift: float) -> RowSolution:
    return row.shifted(shift - float(row.r @ p.x_mean))


def _sharp(p, x, y, xi, w, direction, incumbent, options, limits, orthogonal_to, stage) -> RowSolution:
    shift = float(p.y_mean @ direction)
    start = _moved_in(p, incumbent, shift)

    factor = float(w[0]) if w.size == 1 else 1.0  # a weight that all share is put back at the end
    weights = np.ones(1) if w.size == 1 else w

    def pack(double: bool) -> RowPoints:
        return pack_points(x, y, xi, weights, centre=p.x_mean, direction=direction, offset=shift, double=double)

    row = pack(len(p.x) <= DOUBLE_LIMIT)
    if needs_double(row, start, options.rel_gap):
        row = pack(True)
    solution = solve_sharp(
        row, rel_gap=options.rel_gap, limits=limits, threads=options.threads, incumbent=start,
        orthogonal_to=orthogonal_to, stage=stage,
    )  # fmt: skip
    return _moved_back(p, solution.scaled(factor), shift)
