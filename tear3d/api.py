"""Find a pose, prove how good it is, judge whether to believe it."""

from __future__ import annotations

import logging
from typing import NamedTuple

from tear3d.find.ascent import BAND, climb_from
from tear3d.find.search import Search
from tear3d.judge.around import Around
from tear3d.judge.chance import SIGNIFICANT, Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.judge.uncertainty import pose_covariance
from tear3d.judge.verdict import Evidence, verdict
from tear3d.problem.arrays import Numbers, Points
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.limits import Limits, ProgressCallback, Stop, ctrl_c_cancels
from tear3d.problem.losses import LossName
from tear3d.problem.objective import Scored, survey
from tear3d.problem.options import BoundsName, Certify, Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import Attempt, Certificate
from tear3d.result import Result

log = logging.getLogger("tear3d")


def register(
    source: Points,
    target: Points,
    *,
    noise_bound: Numbers,
    loss: LossName = "tear",
    weights: Numbers | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    rel_gap: float = 1e-3,
    threads: int | None = None,
    seed: int = 0,
    certify: Certify = True,
    progress: ProgressCallback | None = None,
    bounds: BoundsName = "sharp",
) -> Result:
    """Find the rotation and translation that map source points onto their matched target points.

    Almost all pairs may be wrong. The answer comes with a certificate: for each stage of the search, how much
    better any other solution of that stage could possibly be.

    Parameters
    ----------
    source, target : (N, 3) arrays, or Open3D point clouds
        Row i of `source` is matched to row i of `target`.
    noise_bound : float or (N,) array
        Largest distance between a target point and its moved source point for the pair to count as right, in the
        units of the points; about 3 to 6 standard deviations of the noise.
    loss : {"tear", "cm", "tls"}
        Truncated absolute residuals (default), number of outliers, or truncated squares. The last two always use the
        sweep bounds.
    weights : (N,) array, optional
        How much each pair counts, 0 or more; only their ratios matter.
    time_limit, node_limit : optional
        Seconds and visited cells after which the best pose so far is returned with its gap.
    rel_gap : float
        The search ends when nothing can save more than (1 + rel_gap) times what was saved. The saving is what the
        objective lies below its all-outlier value.
    threads : int, optional
        All cores by default. The result does not depend on it.
    seed : int
        Of the random order in which candidate poses are tried.
    certify : {True, False, "full"}
        True proves both rows optimal, one after the other, as the paper does. "full" proves the pose itself: no
        rotation and translation at all saves more in the full objective; slower, best with `rel_gap=0.01`. False
        returns the best candidate at once, with status "uncertified".
    progress : callable, optional
        Called now and then with a `tear3d.Progress`; returning False stops the search, as Ctrl-C does: the best pose so
        far is returned.
    bounds : {"sharp", "sweep", "paper"}
        The fast bounds; those of the paper (slow; for reference); or the same on the paper's own cells, rectangles of
        angles (slower still).

    Returns
    -------
    Result
        Pose, inliers, status and certificate. `result.success` tells whether the consensus can be trusted at all.

    Raises
    ------
    InputError
        When the input cannot be a registration problem; a ValueError too.

    Examples
    --------
    >>> import tear3d
    >>> problem = tear3d.synthetic.make_problem(2000, outlier_ratio=0.9, seed=1)
    >>> result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    >>> result.status
    'optimal'
    >>> bool(tear3d.metrics.rotation_error(result.transformation, problem.transformation) < 0.5)
    True
    """
    options = Options.of(
        loss=loss,
        certify=certify,
        bounds=bounds,
        progress=progress,
        time_limit=time_limit,
        node_limit=node_limit,
        rel_gap=rel_gap,
        threads=threads,
        seed=seed,
    )
    limits = options.limits()
    with ctrl_c_cancels(limits), compiled_apart(limits):
        return solve(Pairs.of(source, target, noise_bound, weights), options, limits)


def solve(
    pairs: Pairs, options: Options, limits: Limits, search: Search | None = None, chosen: Pose | None = None
) -> Result:
    """`register` for checked pairs and options, within limits that the call may share with others.

    `search`, when it is done already; `chosen`, the one of its poses to start from instead of the best by the pairs.
    """
    pairs.check_range(options.the_loss)
    chance = Chance(pairs)
    with limits.timed("candidates"):
        if search is None:
            search = Search.run(pairs, options, limits, chance.like)
        start = search.refined(search.ranked()[0]) if chosen is None else survey(pairs, chosen, options.the_loss, BAND)
        best = Scored(*climb_from(start, pairs, options.the_loss, limits=limits)[:2])
        others = [best.pose, *search.rivals(best.pose)]
    log.info("candidate saves %.6g after %.3f s", best.saving, limits.seconds)
    attempts: tuple[Attempt, ...] = ()
    if options.certify == "full" and limits.exceeded() is None:
        from tear3d.prove.whole import prove_pose  # kernels that an answer alone does without

        best, attempts = prove_pose(pairs, best, options, limits)
    elif options.certify and limits.exceeded() is None:
        from tear3d.prove.rows import prove_rows

        best, attempts = prove_rows(pairs, best, options, limits, chance, SIGNIFICANT)
    ending = Ending(limits.exceeded(), search.done, limits.laps)
    with limits.timed("packaging"):
        rivals = contest(chance, best.pose, search.others(best.pose, others), options.the_loss)
        return _package(pairs, best, attempts, options, ending, rivals)


class Ending(NamedTuple):
    """How a call came to its end."""

    ended: Stop | None
    candidates_done: bool
    seconds: dict[str, float]


def _package(
    pairs: Pairs, best: Scored, attempts: tuple[Attempt, ...], options: Options, ending: Ending, compared: Contest
) -> Result:
    """Everything about the best pose, in the coordinates and units that were given."""
    frame, loss = pairs.frame, options.the_loss
    unit = frame.saving_unit(loss)
    around = Around(pairs, best.pose)
    known = Evidence(
        level=compared.significance,
        num_inliers=len(around.inside),
        certify=options.certify,
        certificate=Certificate(tuple(attempt.scaled(unit) for attempt in attempts)),
        ended=ending.ended,
        candidates_done=ending.candidates_done,
        aside=pairs.num_given - len(pairs),
        # The bound of the whole pose has them in it already.
        aside_may_win=options.certify != "full" and pairs.aside_total(loss) > best.saving,
        ambiguity=compared.ambiguity(around),
        alone=compared.level,
    )
    status, message = verdict(known)
    return Result(
        transformation=frame.outside(best.pose).matrix,
        inlier_mask=pairs.mask(around.inside),
        inlier_rmse=frame.unit * around.rmse,
        saving=unit * best.saving,
        objective=max(0.0, unit * (pairs.total(loss) - best.saving)),  # rounding must not make it negative
        status=status,
        message=message,
        certificate=known.certificate,
        significance=known.level,
        seconds=ending.seconds,
        centre=frame.source + frame.unit * pairs.x_mean,
        settings=options.to_dict() | {"noise_bound": pairs.given_bound, "pairs": pairs.num_given},
        alternatives=compared.alternatives(pairs, loss),
        ambiguity=known.ambiguity,
        covariance=pose_covariance(around, loss),
    )
