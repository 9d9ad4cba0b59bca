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
from tear3d.judge.verdict import Evidence, could_be_chance, near_tie, verdict
from tear3d.problem import ranks
from tear3d.problem.arrays import Numbers, Points
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.kernels import needed
from tear3d.problem.limits import Limits, ProgressCallback, Stop, ctrl_c_cancels
from tear3d.problem.losses import Loss, LossName
from tear3d.problem.objective import Scored, full_saving, survey
from tear3d.problem.options import BoundsName, Certify, Method, Options, TimeLimit
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import Certificate, Proof
from tear3d.result import Result

log = logging.getLogger("tear3d")


def register(
    source: Points,
    target: Points,
    *,
    noise_bound: Numbers,
    loss: LossName = "tear",
    weights: Numbers | None = None,
    time_limit: TimeLimit = "auto",
    node_limit: int | None = None,
    rel_gap: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    certify: Certify = True,
    progress: ProgressCallback | None = None,
    bounds: BoundsName = "sharp",
    method: Method = "tear3d",
) -> Result:
    """Find the rotation and translation that map source points onto their matched target points.

    Almost all pairs may be wrong. The answer comes with a certificate: no rotation and translation saves more than
    `certificate.gap` beyond this one, and none elsewhere more than `certificate.runner_up` of what it saves.

    Parameters
    ----------
    source, target : (N, 3) arrays, or Open3D point clouds
        Row i of `source` is matched to row i of `target`.
    noise_bound : float or (N,) array
        Largest distance between a target point and its moved source point for the pair to count as right, in the
        units of the points; about 3 to 6 standard deviations of the noise.
    loss : {"tear", "cm", "tls"}
        Truncated absolute residuals (default), number of outliers, or truncated squares.
    weights : (N,) array, optional
        How much each pair counts, 0 or more; only their ratios matter.
    time_limit : float or None
        Seconds for the whole call, after which the best pose so far is returned with its gap; None for no limit. Unless
        given ("auto") the proof alone is limited, to 60 seconds from when the candidate is there.
    node_limit : int, optional
        The same for visited cells.
    rel_gap : float, optional
        The proof is done when nothing can save more than (1 + rel_gap) times what was saved. The saving is what the
        objective lies below its all-outlier value. By default 0.01 for the pose and 0.001 for rows.
    threads : int, optional
        All cores by default. The result does not depend on it.
    seed : int
        Of the random order in which candidate poses are tried.
    certify : {True, "pose", "rows", False}
        "pose" (or "full", its old name, or True) proves the pose itself: no rotation and translation at all saves more
        in the full objective. "rows" proves two rows of it, one after the other, as the paper does: a weaker statement.
        False returns the best candidate at once, with status "uncertified". What could be chance gets no proof.
    progress : callable, optional
        Called now and then with a `tear3d.Progress`; returning False stops the search, as Ctrl-C does: the best pose so
        far is returned.
    bounds : {"sharp", "sweep", "paper"}
        With `certify="rows"`: the fast bounds; those of the paper (slow; for reference); or the same on the paper's own
        cells, rectangles of angles (slower still). The losses "cm" and "tls" always use the sweep.
    method : {"tear3d", "paper"}
        "paper" is the paper's own method, for comparison: its cells and bounds along the coordinate axes, without a
        candidate to start from, in one thread, ended by the gap or by its branch resolution; then an SVD. `certify` is
        "rows" then, `bounds` "paper" and `threads` 1; `seed` has no meaning, and no other pose is looked for.

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
        method=method,
        progress=progress,
        time_limit=time_limit,
        node_limit=node_limit,
        rel_gap=rel_gap,
        threads=threads,
        seed=seed,
    )
    limits = options.limits()
    pairs = Pairs.of(source, target, noise_bound, weights)
    kernels = needed(options.certify, pairs=len(pairs), method=options.method)
    with compiled_apart(limits, kernels), ctrl_c_cancels(limits):
        return solve(pairs, options, limits)


def solve(
    pairs: Pairs, options: Options, limits: Limits, search: Search | None = None, chosen: Pose | None = None
) -> Result:
    """`register` for checked pairs and options, within limits that the call may share with others.

    `search`, when it is done already; `chosen`, the one of its poses to start from instead of the best by the pairs.
    """
    ranks.load()
    pairs.check_range(options.the_loss)
    chance = Chance(pairs)
    if options.method == "paper":
        return _solve_as_printed(pairs, options, limits, chance)
    with limits.timed("candidates"):
        if search is None:
            search = Search.run(pairs, options, limits, chance.like)
        start = search.refined(search.ranked()[0]) if chosen is None else survey(pairs, chosen, options.the_loss, BAND)
        best = Scored(*climb_from(start, pairs, options.the_loss, limits=limits)[:2])
        rivals = search.rivals(best.pose)
    log.info("candidate saves %.6g after %.3f s", best.saving, limits.seconds)

    with limits.timed("judgement"):
        compared = contest(chance, best.pose, rivals, options.the_loss)
    proof, ended = Proof(best), limits.exceeded()
    if options.certify and ended is None and not could_be_chance(compared.significance):
        with limits.proving():
            proof = _proven(pairs, best, options, limits, chance)
            ended = limits.exceeded()
    runner_up = _runner_up(proof, compared, chance, options.the_loss)
    if runner_up or not proof.about(best):
        with limits.timed("judgement"):
            others = search.others(proof.best.pose, [best.pose, *rivals, *runner_up])
            compared = contest(chance, proof.best.pose, others, options.the_loss)
    with limits.timed("packaging"):
        return _package(pairs, proof, options, Ending(ended, search.done, limits.laps), compared)


def _solve_as_printed(pairs: Pairs, options: Options, limits: Limits, chance: Chance) -> Result:
    """By the paper's method; its pose is judged as any other."""
    from tear3d.prove.paper import solve_as_printed

    with limits.proving():
        proof = solve_as_printed(pairs, options, limits)
        ended = limits.exceeded()
    with limits.timed("judgement"):
        compared = contest(chance, proof.best.pose, [], options.the_loss)
    with limits.timed("packaging"):
        return _package(pairs, proof, options, Ending(ended, ended is None, limits.laps), compared)


def _proven(pairs: Pairs, best: Scored, options: Options, limits: Limits, chance: Chance) -> Proof:
    """The proof that was asked for; its kernels are those that an answer alone does without."""
    if options.certify == "pose":
        from tear3d.prove.whole import prove_pose

        return prove_pose(pairs, best, options, limits)
    from tear3d.prove.rows import prove_rows

    return Proof(*prove_rows(pairs, best, options, limits, chance, SIGNIFICANT))


def _runner_up(proof: Proof, compared: Contest, chance: Chance, loss: Loss) -> list[Pose]:
    """The pose that the proof met elsewhere, if it saves more than all others that are known."""
    if proof.elsewhere is None:
        return []
    known = max((rival.saving for rival in compared.rivals), default=0.0)
    return [proof.elsewhere] if full_saving(chance.pairs, proof.elsewhere, loss) > known else []


class Ending(NamedTuple):
    """How a call came to its end."""

    ended: Stop | None
    candidates_done: bool
    seconds: dict[str, float]


def _package(pairs: Pairs, proof: Proof, options: Options, ending: Ending, compared: Contest) -> Result:
    """Everything about the best pose, in the coordinates and units that were given."""
    best, frame, loss = proof.best, pairs.frame, options.the_loss
    unit = frame.saving_unit(loss)
    around = Around(pairs, best.pose)
    alternatives = compared.alternatives(pairs, loss)
    ambiguity = compared.ambiguity(around)
    if options.certify == "pose" and proof.attempts:
        ambiguity = ambiguity or near_tie(alternatives, unit * best.saving)
    known = Evidence(
        level=compared.significance,
        num_inliers=len(around.inside),
        certify=options.certify,
        certificate=Certificate(tuple(attempt.scaled(unit) for attempt in proof.attempts)),
        ended=ending.ended,
        candidates_done=ending.candidates_done,
        aside=pairs.num_given - len(pairs),
        # The bound of the whole pose has them in it already.
        aside_may_win=options.certify != "pose" and pairs.aside_total(loss) > best.saving,
        ambiguity=ambiguity,
        alone=compared.level,
        resolution=options.resolution,
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
        alternatives=alternatives,
        ambiguity=known.ambiguity,
        covariance=pose_covariance(around, loss),
    )
