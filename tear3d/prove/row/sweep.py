"""One row of the rotation and its shift, by branch and bound with the paper's bounds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR, caps, loss_code, row_saving
from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges, rectangle_ranges
from tear3d.prove.bounds.sweep import best_shift, max_saving
from tear3d.prove.branch_and_bound import Problem, SearchResult, maximise
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.domains.circle import on_circle, orthogonal_basis, top_arcs
from tear3d.prove.domains.sphere import WHOLE_SPHERE, top_cells

Pose = tuple[FloatArray, float]


@dataclass(frozen=True)
class RowSolution:
    """A unit vector r and shift t with y ≈ r·x + t, and what is proven about its saving."""

    r: FloatArray
    t: float
    saving: float
    saving_bound: float
    cells: int
    closed: bool
    ended_by: str
    total: float
    """Σ w·cap, the objective when every pair is an outlier."""
    history: FloatArray = field(repr=False)
    visited: FloatArray = field(repr=False)

    def shifted(self, by: float) -> RowSolution:
        """The same solution in coordinates where t is larger by `by`."""
        return replace(self, t=self.t + by)

    def scaled(self, factor: float) -> RowSolution:
        """The same solution when every weight is multiplied by `factor`."""
        if factor == 1.0:
            return self
        return replace(
            self,
            saving=factor * self.saving,
            saving_bound=factor * self.saving_bound,
            total=factor * self.total,
            history=self.history * [1.0, factor, factor],
        )

    def certificate(self, name: str) -> StageCertificate:
        return StageCertificate(
            name=name,
            objective=self.total - self.saving,
            lower_bound=self.total - self.saving_bound,
            saving=self.saving,
            saving_bound=self.saving_bound,
            cells=self.cells,
            closed=self.closed,
            ended_by=self.ended_by,
            history=self.history,
            visited=self.visited,
        )


@dataclass(frozen=True)
class _Pairs:
    """One row's data: the saving of (r, t) is Σ w·s(y − r·x − t)."""

    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray
    loss: int

    @functools.cached_property
    def total(self) -> float:
        return float(np.sum(self.w * caps(self.loss, self.xi)))

    @property
    def ceiling(self) -> float:
        """No pose saves more; 2⁻⁴⁴ covers the rounding of the pairwise sum."""
        return self.total * (1.0 + 2.0**-44)

    def bound(self, ranges: Callable[..., None], *cell: Any) -> float:
        """Most that any (r, t) with r in the cell can save, each point on its own."""
        lo, hi = np.empty(len(self.y)), np.empty(len(self.y))
        ranges(self.x, *cell, lo, hi)
        rounding = 2.0**-51 * (np.abs(self.y) + np.maximum(np.abs(lo), np.abs(hi)))
        return max_saving(self.y - hi - rounding, self.y - lo + rounding, self.xi, self.w, self.loss)[0]

    def solve_shift(self, r: FloatArray) -> tuple[float, Pose]:
        saving, t = best_shift(self.y - self.x @ r, self.xi, self.w, self.loss)
        return saving, (r, t)

    def polish(self, tangents: Callable[[FloatArray], FloatArray], value: float, pose: Pose) -> tuple[float, Pose]:
        """Reweighted least squares on the pairs in the band; keeps the best pose met on the way."""
        best, (r, t) = (value, pose), pose
        for _ in range(8):
            z = self.y - self.x @ r - t
            band = np.abs(z) < self.xi
            frame = tangents(r)
            if np.count_nonzero(band) <= len(frame) + 1:
                break
            design = np.column_stack([self.x[band] @ frame.T, np.ones(np.count_nonzero(band))])
            weight = self.w[band]
            if self.loss == TEAR:
                weight = weight / np.maximum(np.abs(z[band]), 0.05 * self.xi[band])
            root = np.sqrt(weight)
            step = np.linalg.lstsq(design * root[:, None], z[band] * root, rcond=None)[0]
            r = r + step[:-1] @ frame
            r = r / np.linalg.norm(r)
            saving, (r, t) = self.solve_shift(r)
            if saving <= best[0]:
                break
            best = saving, (r, t)
        return best


def _pairs(x: Any, y: Any, xi: Any, w: Any, loss: str | int) -> _Pairs:
    x = np.ascontiguousarray(x, np.float64)
    if x.ndim != 2 or x.shape[1] != 3 or len(x) == 0:
        raise InputError(f"x has shape {x.shape}: expected N×3 with at least one row")
    rows = {}
    for name, values in (("y", y), ("xi", xi), ("w", w)):
        values = np.asarray(values, np.float64)
        if values.shape not in ((), (len(x),)) or (name == "y" and values.ndim == 0):
            raise InputError(f"{name} has shape {values.shape}: expected one number per row of x ({len(x)})")
        if not np.all(np.isfinite(values)) or (name != "y" and np.any(values < 0.0)):
            raise InputError(f"{name} has entries that are not finite{'' if name == 'y' else ' or negative'}")
        rows[name] = np.ascontiguousarray(np.broadcast_to(values, len(x)))
    if not np.all(np.isfinite(x)):
        raise InputError("x has entries that are not finite")
    return _Pairs(x, **rows, loss=loss_code(loss))


def _start(pairs: _Pairs, r: FloatArray, given: Pose | None) -> tuple[float, Pose]:
    """The incumbent before the search: the given pose, or else any."""
    if given is None:
        return pairs.solve_shift(r)
    norm = np.linalg.norm(r)
    if not norm > 0.0:
        raise InputError("incumbent: r has no direction left; expected a nonzero vector")
    best = pairs.solve_shift(r / norm)
    t = float(given[1])
    there = row_saving(pairs.y - pairs.x @ best[1][0], t, pairs.xi, pairs.w, pairs.loss)
    return (there, (best[1][0], t)) if there > best[0] else best


def _solution(result: SearchResult, total: float) -> RowSolution:
    r, t = result.solution
    return RowSolution(
        r=r,
        t=float(t),
        saving=result.value,
        saving_bound=result.bound,
        cells=result.cells,
        closed=result.closed,
        ended_by=result.ended_by,
        total=total,
        history=result.history,
        visited=result.visited,
    )


def solve_row_sweep(
    x: FloatArray,
    y: FloatArray,
    xi: FloatArray,
    w: FloatArray,
    *,
    loss: str | int = "tear",
    rel_gap: float = 1e-3,
    limits: Limits | None = None,
    threads: int = 1,
    incumbent: Pose | None = None,
    resolution: float | None = None,
    parameterisation: Literal["cube", "angles"] = "cube",
    stage: str = "first row",
) -> RowSolution:
    """TEAR-1, CM-1 or TLS-1: maximise Σ w·s(y − r·x − t) over all unit vectors r and shifts t.

    Parameters
    ----------
    x, y, xi, w
        Points (N×3, better centred: bounds widen with |x|), their torn-off coordinates, thresholds, weights.
    loss
        "tear", "cm" or "tls".
    rel_gap, limits, threads, resolution
        See `maximise`; the size of a cell is its angular radius in radians.
    incumbent
        A known (r, t) to start from.
    parameterisation
        "cube" for cube-map cells, "angles" for the paper's (α, β) rectangles.
    """
    pairs = _pairs(x, y, xi, w, loss)
    bound: Callable[[Any], float]
    roots: list[Any]
    if parameterisation == "cube":
        roots, bound = top_cells(1), lambda cell: pairs.bound(cell_ranges, cell.vertices)
    elif parameterisation == "angles":
        roots, bound = WHOLE_SPHERE.split(), lambda cell: pairs.bound(rectangle_ranges, *cell)
    else:
        raise InputError(f"parameterisation is {parameterisation!r}: expected 'cube' or 'angles'")

    def tangents(r: FloatArray) -> FloatArray:
        return np.array(orthogonal_basis(r))

    direction = roots[0].centre if incumbent is None else np.asarray(incumbent[0], np.float64)
    result = maximise(
        Problem(
            roots=roots,
            split=lambda cell: cell.split(),
            bound=bound,
            evaluate=lambda cell: pairs.solve_shift(cell.centre),
            size=lambda cell: cell.radius,
            polish=functools.partial(pairs.polish, tangents),
            describe=lambda cell: (*cell.centre.tolist(), cell.radius),
            ceiling=pairs.ceiling,
        ),
        rel_gap=rel_gap,
        limits=limits if limits is not None else Limits(),
        incumbent=_start(pairs, direction, incumbent),
        resolution=resolution,
        threads=threads,
        stage=stage,
    )
    return _solution(result, pairs.total)


def solve_arc_sweep(
    x: FloatArray,
    y: FloatArray,
    xi: FloatArray,
    w: FloatArray,
    r1: FloatArray,
    *,
    loss: str | int = "tear",
    rel_gap: float = 1e-3,
    limits: Limits | None = None,
    threads: int = 1,
    incumbent: Pose | None = None,
    resolution: float | None = None,
    stage: str = "second row",
) -> RowSolution:
    """TEAR-2 (and its CM and TLS twins): as `solve_row_sweep`, over the unit r orthogonal to r1 only."""
    pairs = _pairs(x, y, xi, w, loss)
    r1 = np.asarray(r1, np.float64)
    if r1.shape != (3,) or not np.all(np.isfinite(r1)) or not np.linalg.norm(r1) > 0.0:
        raise InputError("r1: expected a finite nonzero vector of 3 numbers")
    r1 = r1 / np.linalg.norm(r1)
    u, v = orthogonal_basis(r1)
    direction = u
    if incumbent is not None:
        given = np.asarray(incumbent[0], np.float64)
        direction = given - (given @ r1) * r1
    result = maximise(
        Problem(
            roots=top_arcs(8),
            split=lambda arc: arc.split(),
            bound=lambda arc: pairs.bound(arc_ranges, u, v, arc.a1, arc.a2),
            evaluate=lambda arc: pairs.solve_shift(on_circle(u, v, arc.middle)),
            size=lambda arc: arc.radius,
            polish=functools.partial(pairs.polish, lambda r: np.cross(r1, r)[None, :]),
            describe=lambda arc: (*on_circle(u, v, arc.middle).tolist(), arc.radius),
            ceiling=pairs.ceiling,
        ),
        rel_gap=rel_gap,
        limits=limits if limits is not None else Limits(),
        incumbent=_start(pairs, direction, incumbent),
        resolution=resolution,
        threads=threads,
        stage=stage,
    )
    return _solution(result, pairs.total)
