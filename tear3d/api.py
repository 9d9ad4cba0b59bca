"""`register`: checked arguments for `solve`, which finds, proves and judges."""

from __future__ import annotations

import os

from tear3d.problem.arrays import Numbers, Points
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.kernels import needed
from tear3d.problem.limits import ProgressCallback, ctrl_c_cancels
from tear3d.problem.losses import LossName
from tear3d.problem.options import BoundsName, Certify, Method, Options, TimeLimit
from tear3d.problem.pairs import Pairs
from tear3d.result import Result
from tear3d.solving import solve
from tear3d.stream.inputs import Asked, Opened, checked_limit


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
    memory_limit: int | None = None,
    client: object = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """Find the rotation and translation that map source points onto their matched target points.

    Almost all pairs may be wrong. The answer comes with a certificate: no rotation and translation saves more than
    `certificate.gap` beyond this one, and none elsewhere more than `certificate.runner_up` of what it saves.

    Parameters
    ----------
    source, target : (N, 3) arrays, Open3D point clouds, or what is larger than memory
        Row i of `source` is matched to row i of `target`. Memory-mapped arrays, paths of ``.npy`` files, lists of them
        and what `tear3d.open_pairs` opens are read a piece at a time if they are too large, see `memory_limit`.
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
    memory_limit : int, optional
        Bytes that the call may keep in memory, beyond what Python, compiled code and the system's cache of files take.
        Pairs that would need more (96 bytes each) are read in passes, a piece at a time: see docs/out-of-core.md for
        what that costs. By default a quarter of the machine's memory for what lies in files, no limit for arrays.
    client : distributed.Client, optional
        Dask arrays `source` and `target`, chunked by rows, are looked at where their chunks lie, and only sums travel
        (extra ``cluster``). `memory_limit` is that of this process.
    checkpoint : path, optional
        Of pairs that are read in passes, a file in which the proof is kept after every pass. A call with the same pairs
        and options goes on from there; when the proof has come to its end the file is removed.

    Returns
    -------
    Result
        Pose, inliers, status and certificate. `result.success` tells whether the consensus can be trusted at all.

    Raises
    ------
    InputError
        When the input cannot be a registration problem; a ValueError too.
    ClusterError
        When the cluster was lost.
    StoppedError
        When pairs that are read in passes were not read twice before a limit ended the call: nothing is known of them.

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
    asked = Asked(checked_limit(memory_limit), client, checkpoint)
    opened = Opened.of(source, target, noise_bound, weights, asked)
    if opened is not None and opened.in_pieces:
        from tear3d.stream.register import register_in_pieces  # whose kernels others do without

        with ctrl_c_cancels(limits):
            return register_in_pieces(opened, asked, options, limits)
    given = (source, target, noise_bound, weights) if opened is None else opened.in_memory()
    pairs = Pairs.of(*given)
    kernels = needed(options.certify, pairs=len(pairs), method=options.method)
    with compiled_apart(limits, kernels), ctrl_c_cancels(limits):
        return solve(pairs, options, limits)
