"""Refine a pose on the clouds themselves by ICP, point-to-plane ICP or GICP."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tear3d.clouds.descent import Descent, Measured
from tear3d.clouds.equations import METHODS, Method, Pairing, Surface
from tear3d.clouds.inputs import NAMES, note_units
from tear3d.clouds.uncertainty import refined_covariance
from tear3d.errors import InputError, StoppedError
from tear3d.features.normals import estimate_normals, flattest
from tear3d.features.steps import Steps, Tick, part_of
from tear3d.features.tree import Tree
from tear3d.features.voxel import check_voxel_size, choose_voxel_size, voxel_downsample
from tear3d.features.work import aside
from tear3d.judge.uncertain import Uncertain
from tear3d.judge.uncertainty import carried
from tear3d.problem.arrays import FloatArray, Points, as_points
from tear3d.problem.limits import Limits, ctrl_c_cancels
from tear3d.problem.prior import Prior
from tear3d.problem.strict import strict

_NEIGHBOURS = 20
# What the preparation counts for in the progress that is shown.
_PREPARED = 0.3
# Voxels within which points are matched. Free choice.
_REACH = 3.0
# Once the pose has settled, points farther apart belong to what one of the clouds does not show, as the table that is
# seen below a pipe does not belong to its underside. What a neighbourhood spans, by which the normals are known.
_NARROW = 3.0
# Fewer points than this have no surface.
_FEWEST = 5
# Smaller voxels show more when so many points share one on average: free choice, twice that of a sampling without any
# to spare, whose voxels of one spacing hold a point or none.
_SPARE = 1.5
# Two surfaces a voxel or more apart differ by half of it from the plane between them, and one that is sampled once a
# voxel by 0.29 at most (uniform). Of so many points, most must see two.
_TWO, _LOOKED_AT = 0.5, 1000
# A result with a smaller share of the start's fitness has lost its way.
_KEPT = 0.9


@dataclass(frozen=True, eq=False)
class RefineResult(Uncertain):
    """A refined pose and how well the clouds agree under it. Compares by identity; the arrays are read-only."""

    transformation: FloatArray
    """4×4, target ← source."""
    fitness: float
    """Fraction of the downsampled source points with a target point within `max_distance`; NaN when stopped before it
    was measured."""
    rmse: float
    """Root mean square distance of those points to their nearest target points; NaN without any."""
    initial_fitness: float
    initial_rmse: float
    converged: bool
    """False when stopped, when the iterations ran out, or when the start was better and has been kept."""
    iterations: int
    """Steps taken from the start."""
    max_distance: float
    voxel_size: float
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan), repr=False)
    """6×6, of the pose, see `covariance_of`; NaN unless the refinement converged and the clouds hold the pose."""

    def __post_init__(self) -> None:
        for array in (self.transformation, self.covariance):
            array.setflags(write=False)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: None instead of NaN."""
        known = self.covariance if np.isfinite(self.covariance).all() else None
        plain: dict[str, Any] = strict(vars(self) | {"covariance": known})
        return plain


def refine_icp(
    source: Points,
    target: Points,
    T: ArrayLike,
    *,
    method: Method = "gicp",
    max_distance: float | None = None,
    voxel_size: float | None = None,
    threads: int | None = None,
    limits: Limits | None = None,
) -> RefineResult:
    """Refine the pose `T` by aligning the clouds.

    Parameters
    ----------
    source, target : (N, 3) and (M, 3) arrays or Open3D point clouds
    T : (4, 4) array
        Start: maps source onto target up to a few voxels.
    method : {"gicp", "icp", "plane"}
        Generalized ICP, point-to-point or point-to-plane.
    max_distance : float, optional
        Points farther apart are not matched; 3 voxels by default, 6 where their size is not given either.
    voxel_size : float, optional
        The clouds are downsampled to it; by default half of what `register_clouds` chooses, as for its refinement, or
        less where that hides that walls have two sides, as far as the clouds have the points.
    threads : int, optional
        All cores by default. The result does not depend on it.
    limits : Limits, optional
        Time, progress and cancellation. When they end the call, or Ctrl-C does, the pose reached so far is returned.

    Returns
    -------
    RefineResult

    Raises
    ------
    InputError
        When the clouds or options cannot be used, or one cloud spans 100 times as much as the other. Spans that suggest
        different units are logged as a warning.
    """
    limits = Limits() if limits is None else limits
    clouds = as_points(source, "source"), as_points(target, "target")
    start = _checked_pose(T)
    note_units(*clouds)
    if method not in METHODS:
        raise InputError(f"method is {method!r}: expected one of {', '.join(map(repr, METHODS))}")
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    if max_distance is not None and not (np.isfinite(max_distance) and max_distance > 0.0):
        raise InputError(f"max_distance is {max_distance}: expected a positive length")
    finer = voxel_size is None
    return refined(Refinement(clouds, start, method, threads, max_distance, voxel_size, finer=finer), limits)


def refined(job: Refinement, limits: Limits) -> RefineResult:
    """Checked, as far as the limits let it come."""
    with ctrl_c_cancels(limits), Steps(limits)("refine") as tick:
        with suppress(StoppedError):
            job.run(tick)
        return job.result()


@dataclass
class Refinement:
    """One refinement, and how far it has come."""

    clouds: tuple[FloatArray, FloatArray]
    start: FloatArray
    method: Method
    threads: int | None
    max_distance: float | None
    voxel_size: float | None
    prior: Prior | None = None
    """The poses that are allowed."""
    finer: bool = True
    """Take smaller voxels where these hide that there are two surfaces, and the clouds have more points."""
    settled: bool = False
    """The start is so near that only points within few voxels need be matched."""
    steps: int | None = None
    centres: tuple[FloatArray, FloatArray] | None = None
    descent: Descent | None = None
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan))

    def run(self, tick: Tick) -> None:
        tick(0.0)
        if self.voxel_size is None:
            usual = choose_voxel_size(*self.clouds, tick=tick)
            self.voxel_size = 0.5 * usual
            self.max_distance = _REACH * usual if self.max_distance is None else self.max_distance
        size = self.voxel_size
        if self.max_distance is None:
            self.max_distance = _REACH * size
        thinned = self._thinned(size, tick)
        while self.finer and any(
            len(cloud) >= _SPARE * one.tree.n and one.hides_walls
            for cloud, one in zip(self.clouds, thinned, strict=True)
        ):
            size = self.voxel_size = 0.5 * size
            thinned = self._thinned(size, tick)
        for one, name in zip(thinned, NAMES, strict=True):
            if one.tree.n < 3:
                raise InputError(f"voxels of {size:g} leave {one.tree.n} points of {name}: pass a smaller voxel_size")
        centres = thinned[0].centre, thinned[1].centre
        half_way, ready = part_of(tick, 0.0, 0.5 * _PREPARED), part_of(tick, 0.5 * _PREPARED, _PREPARED)
        from_surface = self._surface(thinned[0].tree, self.method == "gicp", half_way)
        to_surface = self._surface(thinned[1].tree, self.method != "icp", ready)
        reach, iterate = self.max_distance / size, part_of(tick, _PREPARED, 1.0)
        pairing = Pairing(
            from_surface, to_surface, self.method, reach, self.threads, trees=(thinned[0].tree, thinned[1].tree)
        )
        prior = None if self.prior is None else self.prior.between(*centres, size)
        self.centres, self.descent = centres, Descent(pairing, prior=prior)
        local = self.start.copy()
        local[:3, 3] = (self.start[:3, :3] @ centres[0] + self.start[:3, 3] - centres[1]) / size
        if reach <= _NARROW:
            self.descent.run(local, iterate)
        else:
            self.descent.visit(local, iterate) if self.settled else self.descent.run(local, iterate)
            pairing = pairing.within(_NARROW)
            closer = Descent(pairing, prior=prior)
            closer.run(self.descent.reached[-1].pose, iterate)
            self.steps = self.descent.iterations + closer.iterations
            if closer.iterations:
                self.descent.visit(closer.reached[-1].pose, iterate)
            self.descent.converged = closer.converged
        if self.descent.converged:
            own = refined_covariance(pairing, self.descent.reached[-1].pose, part_of(tick, 1.0, 1.0))
            self.covariance = carried(own, size, centres[0])

    def _thinned(self, size: float, tick: Tick) -> tuple[_Thinned, _Thinned]:
        one, other = (_Thinned.of(voxel_downsample(cloud, size, tick=tick), size, tick) for cloud in self.clouds)
        return one, other

    def _surface(self, tree: Tree, oriented: bool, tick: Tick) -> Surface:
        points = tree.data
        if oriented and len(points) >= _FEWEST:
            normals = estimate_normals(points, max_nn=_NEIGHBOURS, threads=self.threads, tick=tick, tree=tree)
            return Surface(points, normals)
        return Surface(points, np.zeros_like(points))

    def result(self) -> RefineResult:
        """The last pose that was measured, unless the start was better; the start before there is any."""
        size = math.nan if self.voxel_size is None else float(self.voxel_size)
        reached = self.descent.reached if self.descent is not None else []
        first, last = (reached[0], reached[-1]) if reached else (Measured(self.start), Measured(self.start))
        lost = last.fitness < _KEPT * first.fitness
        if lost:
            last = first
        pose = self.start
        if self.centres is not None and last is not first:
            pose = last.pose.copy()
            pose[:3, 3] = last.pose[:3, 3] * size + self.centres[1] - last.pose[:3, :3] @ self.centres[0]
        return RefineResult(
            transformation=pose,
            fitness=last.fitness,
            rmse=last.rmse * size,
            initial_fitness=first.fitness,
            initial_rmse=first.rmse * size,
            converged=self.descent is not None and self.descent.converged and not lost,
            iterations=self.steps if self.steps is not None else max(0, len(reached) - 1),
            max_distance=math.nan if self.max_distance is None else float(self.max_distance),
            voxel_size=size,
            covariance=np.full((6, 6), np.nan) if lost else self.covariance,
        )


class _Thinned(NamedTuple):
    """A thinned cloud around its centre and in voxels, for the tolerances and the damping have a scale."""

    centre: FloatArray
    tree: Tree

    @classmethod
    def of(cls, points: FloatArray, size: float, tick: Tick) -> _Thinned:
        centre = points.mean(axis=0)
        return cls(centre, aside(lambda: Tree((points - centre) / size), tick))

    @property
    def hides_walls(self) -> bool:
        """Whether most neighbourhoods, which tell the normals, have two surfaces in them."""
        points = self.tree.data
        if len(points) < _FEWEST:
            return False
        near = self.tree.query(points[:: -(-len(points) // _LOOKED_AT)], _NEIGHBOURS)[1]
        return bool(np.median(flattest(points, near)[0]) > _TWO**2)


def _checked_pose(T: ArrayLike) -> FloatArray:
    pose = np.array(T, dtype=np.float64)
    if pose.shape != (4, 4):
        raise InputError(f"T has shape {pose.shape}: expected a 4×4 pose")
    rotation = pose[:3, :3]
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-4) or np.linalg.det(rotation) < 0.0:
        raise InputError("T: its upper left 3×3 block is not a rotation")
    if not np.isfinite(pose).all() or not np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0]):
        raise InputError("T: expected finite numbers and a last row of 0 0 0 1")
    return pose
