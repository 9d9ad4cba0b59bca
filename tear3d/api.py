"""The public functions: validate, solve, package."""

from __future__ import annotations

from typing import Any

from tear3d.problem.limits import ProgressCallback
from tear3d.problem.validation import check_options, check_pairs
from tear3d.result import Result


def register(
    source: Any,
    target: Any,
    *,
    noise_bound: Any,
    loss: str = "tear",
    weights: Any = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    rel_gap: float = 1e-3,
    threads: int | None = None,
    seed: int = 0,
    certify: bool | str = True,
    progress: ProgressCallback | None = None,
    bounds: str = "sharp",
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
        How much each pair counts, 0 or more.
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
        Called now and then with a `tear3d.Progress`; returning False stops the search.
    bounds : {"sharp", "sweep"}
        The fast bounds, or the paper's (slow; for reference).

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
    options = check_options(
        loss=loss,
        time_limit=time_limit,
        node_limit=node_limit,
        rel_gap=rel_gap,
        threads=threads,
        seed=seed,
        certify=certify,
        progress=progress,
        bounds=bounds,
    )
    pairs = check_pairs(source, target, noise_bound, weights)
    from tear3d.pipeline import solve

    return solve(pairs, options)
