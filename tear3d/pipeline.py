"""The method: a candidate pose, two certified rows, the third from their cross product, and the best full objective.

Everything happens in centred coordinates. Any orthonormal frame of the target space will do: the first row is torn off
along a direction in which the candidate's translation vanishes, because there the background of wrong pairs and the
right ones peak together, and the row's global optimum is the candidate if any row's is. If not, others are tried.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace

import numpy as np

from tear3d.find.ascent import refine_pose
from tear3d.find.search import COMPARABLE, find_pose
from tear3d.judge.chance import SIGNIFICANT, significance
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import loss_code
from tear3d.problem.objective import full_objective, inlier_mask, residuals
from tear3d.problem.validation import Options, Pairs
from tear3d.prove.row.sweep import RowSolution
from tear3d.prove.rowsolver import Centred, solve_first_row, solve_second_row
from tear3d.result import Certificate, Result, StageCertificate, Status

log = logging.getLogger("tear3d")

MAX_ROWS = 3
SWAP = 0.8
"""Source and target change roles when the target's spread is below this share of the source's."""
SAME_POSE = 2.0
"""A row agrees with a pose when it moves no point of the cloud by more than this many noise bounds."""


@dataclass
class Best:
    """The best pose so far, in centred coordinates."""

    rotation: FloatArray
    translation: FloatArray
    saving: float

    def inverse(self) -> Best:
        return Best(self.rotation.T, -self.rotation.T @ self.translation, self.saving)

    def offer(self, rotation: FloatArray, translation: FloatArray, saving: float) -> None:
        if saving > self.saving:
            self.rotation, self.translation, self.saving = rotation, translation, saving


@dataclass
class Run:
    """What one call has found so far."""

    problem: Centred
    options: Options
    limits: Limits
    loss: int
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, started: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def solve(pairs: Pairs, options: Options) -> Result:
    """Solve a checked problem."""
    limits = Limits(options.time_limit, options.node_limit, options.progress)
    problem = Centred.of(pairs)
    run = Run(problem, options, limits, loss_code(options.loss))
    best = _first_candidate(run)
    stages: tuple[StageCertificate, ...] = ()
    supported = False
    if options.certify:
        try:
            stages, supported = (_full if options.certify == "full" else _certified_rows)(run, best)
        except KeyboardInterrupt:
            limits.cancel()
    return _package(pairs, run, best, stages, supported)


def _first_candidate(run: Run) -> Best:
    started = time.perf_counter()
    p = run.problem
    run.limits.report("candidates", 0.0, p.total(run.loss))
    found = find_pose(
        p.x, p.y, p.xi, p.w, loss=run.loss, seed=run.options.seed,
        time_limit=run.options.time_limit, threads=run.options.threads,
    )  # fmt: skip
    rotation, t, saving = refine_pose(p.x, p.y, p.xi, p.w, found.rotation, found.translation, run.loss, graduated=False)
    best = Best(found.rotation, found.translation, found.saving)
    best.offer(rotation, t, saving)
    run.timed("candidates", started)
    log.info("candidate saves %.6g after %.3f s", best.saving, run.seconds["candidates"])
    return best


def _certified_rows(run: Run, best: Best) -> tuple[tuple[StageCertificate, ...], bool]:
    """Tear off rows until the certified optimum of one agrees with the best pose: certificates, and if it agrees."""
    if run.problem.target_radius < SWAP * run.problem.radius:
        # Bounds widen with |x|: search for the inverse motion.
        inverse = best.inverse()
        stages, supported = _rows(replace(run, problem=run.problem.swapped()), inverse)
        p, found = run.problem, inverse.inverse()
        found = Best(*refine_pose(p.x, p.y, p.xi, p.w, found.rotation, found.translation, run.loss, graduated=False))
        if _better(p, found, best):
            best.offer(found.rotation, found.translation, found.saving)
        return stages, supported
    return _rows(run, best)


def _rows(run: Run, best: Best) -> tuple[tuple[StageCertificate, ...], bool]:
    stages: tuple[StageCertificate, ...] = ()
    for attempt in range(MAX_ROWS):
        frame = _frame(run.problem, best, attempt)
        first, second = _two_rows(run, best, frame)
        done = [first.certificate("first row")]
        if second is not None:
            done.append(second.certificate("second row"))
        supported = second is not None and _agrees(run.problem, best, frame, first, second)
        # Keep the attempt that says most about the pose: one that agrees, else the first.
        if supported or not stages:
            stages = tuple(done)
        if supported or run.limits.exceeded() is not None:
            return stages, supported
        if _level(run.problem, best) > SIGNIFICANT:
            break
        log.info("row %d does not agree with the best pose, tearing off another", attempt + 1)
    return stages, False


def _full(run: Run, best: Best) -> tuple[tuple[StageCertificate, ...], bool]:
    """The whole six-dimensional problem at once; the best pose is the one the proof is about."""
    from tear3d.prove.pose.solve import solve_full

    started, p = time.perf_counter(), run.problem
    solution = solve_full(
        p.x - p.x_mean, p.y - p.y_mean, p.xi, p.w, incumbent=(best.rotation, _between(p, best)),
        rel_gap=run.options.rel_gap, limits=run.limits, threads=run.options.threads,
    )  # fmt: skip
    shift = solution.translation + p.y_mean - solution.rotation @ p.x_mean
    best.rotation, best.translation, best.saving = solution.rotation, shift, solution.saving
    run.timed("full problem", started)
    return (solution.certificate(),), True


def _between(p: Centred, best: Best) -> FloatArray:
    """The translation between the centred clouds."""
    return best.translation - p.y_mean + best.rotation @ p.x_mean


def _frame(problem: Centred, best: Best, attempt: int) -> FloatArray:
    """A right-handed orthonormal frame of the target space, rows u, v, w; the row along u is torn off first.

    Attempt 0: u and v orthogonal to the translation, u along the larger spread. Then the principal axes in turn.
    """
    _, axes = np.linalg.eigh(problem.target_covariance)
    principal = axes.T[::-1]
    t = best.translation
    length = float(np.linalg.norm(t))
    if attempt == 0 and length > 1e-3 * problem.radius:
        w = t / length
        flat = np.eye(3) - np.outer(w, w)
        _, inside = np.linalg.eigh(flat @ problem.target_covariance @ flat)
        u = inside[:, 2] - (inside[:, 2] @ w) * w
        u /= np.linalg.norm(u)
        v = np.cross(w, u)
    else:
        u, v = principal[attempt % 3], principal[(attempt + 1) % 3]
    return np.array([u, v, np.cross(u, v)])


def _two_rows(run: Run, best: Best, frame: FloatArray) -> tuple[RowSolution, RowSolution | None]:
    """Both tear-offs along u and v from the best pose; what they find is refined and offered to `best`."""
    started = time.perf_counter()
    p = run.problem
    u, v, w = frame
    rotation, t = best.rotation, best.translation
    first = solve_first_row(p, u, (u @ rotation, float(u @ t)), run.loss, run.options, run.limits)
    run.timed("first row", started)
    if run.limits.exceeded() is not None:
        return first, None
    started = time.perf_counter()
    band = p.band(u, first, run.loss)
    second = solve_second_row(p, band, v, (v @ rotation, float(v @ t)), first.r, run.loss, run.options, run.limits)
    run.timed("second row", started)
    started = time.perf_counter()
    band = band.then(p, v, second, run.loss)
    third = np.cross(first.r, second.r)
    if len(band.index):
        shift = _peak(band.coordinate(p, w, third), band.w, p.typical_bound)
        pose = frame.T @ np.array([first.r, second.r, third])
        translation = frame.T @ np.array([first.t, second.t, shift])
        found = Best(*refine_pose(p.x, p.y, p.xi, p.w, pose, translation, run.loss))
        if _better(p, found, best):
            best.offer(found.rotation, found.translation, found.saving)
    run.timed("refinement", started)
    return first, second


def _peak(b: FloatArray, w: FloatArray, width: float) -> float:
    """The middle of the most crowded stretch of 2·width: good enough a shift for the refinement to start from."""
    order = np.argsort(b)
    b, total = b[order], np.concatenate([[0.0], np.cumsum(w[order])])
    ends = np.searchsorted(b, b + 2.0 * width, side="right")
    first = int(np.argmax(total[ends] - total[:-1]))
    return float(0.5 * (b[first] + b[ends[first] - 1]))


def _better(p: Centred, found: Best, best: Best) -> bool:
    """More saved; among comparable savings only if not more likely by chance, which many-to-one matches can be."""
    if found.saving <= best.saving:
        return False
    return COMPARABLE * found.saving > best.saving or _level(p, found) <= _level(p, best)


def _level(p: Centred, best: Best) -> float:
    return significance(p.x, p.y, best.rotation, best.translation, p.xi)


def _agrees(p: Centred, best: Best, frame: FloatArray, first: RowSolution, second: RowSolution) -> bool:
    """Whether the certified rows are rows of the best pose, up to the noise bound on the cloud."""
    limit = SAME_POSE * p.typical_bound
    for axis, row in ((frame[0], first), (frame[1], second)):
        turn = float(np.linalg.norm(row.r - axis @ best.rotation)) * p.radius
        if turn + abs(row.t - float(axis @ best.translation)) > limit:
            return False
    return True


def _package(pairs: Pairs, run: Run, best: Best, stages: tuple[StageCertificate, ...], supported: bool) -> Result:
    p, started = run.problem, time.perf_counter()
    level = _level(p, best)
    mask = inlier_mask(p.x, p.y, best.rotation, best.translation, p.xi)
    inside = residuals(p.x[mask], p.y[mask], best.rotation, best.translation)
    transformation = np.eye(4)
    transformation[:3, :3] = best.rotation
    transformation[:3, 3] = best.translation + p.target_mean - best.rotation @ p.source_mean
    certificate = Certificate(stages)
    status, message = _status(run, certificate, supported, level, int(mask.sum()))
    run.timed("packaging", started)
    return Result(
        transformation=transformation,
        inlier_mask=mask,
        inlier_rmse=float(np.sqrt(np.mean(inside**2))) if mask.any() else float("nan"),
        objective=full_objective(p.x, p.y, best.rotation, best.translation, p.xi, p.w, run.loss),
        status=status,
        message=message,
        certificate=certificate,
        significance=level,
        seconds=run.seconds,
        settings=run.options.to_dict() | {"noise_bound": float(np.median(pairs.xi)), "pairs": len(pairs)},
    )


def _status(run: Run, certificate: Certificate, supported: bool, level: float, inliers: int) -> tuple[Status, str]:
    if level > SIGNIFICANT:
        return (
            "no_consensus",
            f"a consensus of {inliers} pairs is not distinguishable from chance (log10 NFA {level:.1f})",
        )
    ended = run.limits.exceeded()
    if not run.options.certify:
        return "uncertified", "the best candidate; nothing was proven (certify=False)"
    if certificate.closed and run.options.certify == "full":
        return "optimal", f"no rotation and translation saves {certificate.gap:.2g} more in the full objective"
    if certificate.closed and supported:
        return "optimal", f"both rows are globally optimal within {certificate.gap:.2g} of the saving"
    if ended == "time_limit":
        return "time_limit", "the time limit ended the search; the gap says what was proven until then"
    if ended == "node_limit":
        return "node_limit", "the node limit ended the search; the gap says what was proven until then"
    if ended == "interrupted":
        return "interrupted", "interrupted; the gap says what was proven until then"
    if certificate.closed:
        return (
            "uncertified",
            "the pose has the best full objective found, but no single row's optimum confirms it",
        )
    return "uncertified", "the gap could not be closed at the resolution of the numbers"
