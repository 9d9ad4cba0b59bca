"""From a folder of scans to a map: which pairs overlap, how each fits, and poses that suit all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from tear3d.clouds.tries import NOISE_BOUND
from tear3d.errors import InputError
from tear3d.features.voxel import check_voxel_size
from tear3d.mapping.assemble import assemble
from tear3d.mapping.pairwise import How
from tear3d.mapping.result import Map
from tear3d.mapping.scans import Given, Scans
from tear3d.mapping.survey import MapProgress, Survey
from tear3d.problem.options import Options, Proof, as_number, as_whole

__all__ = ["Map", "MapProgress", "build_map"]


def build_map(
    scans: Any,
    *,
    voxel_size: float | None = None,
    noise_bound: float | None = None,
    order: bool = True,
    reach: int = 2,
    loops: bool = True,
    max_tries: int | None = None,
    certify: Proof | bool = False,
    seed: int = 0,
    processes: int | None = None,
    progress: Callable[[MapProgress], object] | None = None,
) -> Map:
    """Place overlapping scans in one frame.

    Pairs of scans are registered by `register_clouds`; those that the clouds confirm become edges of a pose graph,
    weighed by their covariances. Its poses are found by least squares that leave out edges which the others
    contradict.

    Parameters
    ----------
    scans : folder, or sequence of files or (N, 3) arrays
        The clouds of a folder are taken by name. Every scan is read once or twice, one at a time.
    voxel_size : float, optional
        As for `register_clouds`, one for all; chosen by default from five scans, spread over the survey.
    noise_bound : float, optional
        How far matched points may be apart; 1.5 voxels by default. An edge that puts the typical point of its scan
        about so far elsewhere, beyond what its covariance explains, is dropped.
    order : bool
        The scans come in the order in which they were taken: each overlaps the one before. Otherwise all pairs that
        are not joined yet are looked at with coarse voxels first; their number grows with the square of that of scans.
    reach : int
        With an order, every scan is tried with so many before it. With 1 no edge of the chain is borne out by others.
    loops : bool
        Also try pairs that overlap as far as the poses so far tell, and that are far apart along the edges or hang on
        a single one.
    max_tries : int, optional
        So many registrations at most, coarse ones included; no limit by default. `Map.notes` says when it was reached.
    certify : {False, "rows", "pose"}
        What to prove of each registration; see `register_clouds`. By default nothing: the clouds themselves are asked.
    seed : int
        As for `register`.
    processes : int, optional
        How many pairs are registered at once; one for each core by default.
    progress : callable, optional
        Called with a `MapProgress` before every scan that is read and after every pair that was tried.

    Returns
    -------
    Map
        Its `success` is true when all scans are in one map and no edge was dropped that may be right.

    Raises
    ------
    InputError
        When a scan cannot be read, an option cannot be used, or there are fewer than two scans.
    """
    began = time.perf_counter()
    settings = _checked(locals())
    given = Given.of(scans)
    say = progress or (lambda report: None)
    with Scans.of(given, voxel_size, lambda k: say(MapProgress("read", k, len(given)))) as kept:
        bound = NOISE_BOUND * kept.voxel_size if noise_bound is None else float(noise_bound)
        how = How(kept.voxel_size, bound, settings["certify"], seed, processes)
        survey = Survey(kept, how, max_tries, say)
        if order:
            survey.in_order(reach)
        else:
            survey.without_order()
        if loops:
            survey.close_loops()
        return assemble(survey, settings, began)


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were used, for the record; InputError for one that cannot be."""
    names = ("voxel_size", "noise_bound", "order", "reach", "loops", "max_tries", "certify", "seed", "processes")
    options = {name: given[name] for name in names}
    if options["voxel_size"] is not None:
        check_voxel_size(as_number(options["voxel_size"], "voxel_size"))
    bound = options["noise_bound"]
    if bound is not None and not 0.0 < as_number(bound, "noise_bound") < math.inf:
        raise InputError(f"noise_bound is {bound}: expected a positive number in the unit of the points")
    as_whole(options["reach"], "reach", 1)
    for name in ("max_tries", "processes"):
        if options[name] is not None:
            as_whole(options[name], name, 1)
    options["certify"] = Options.of(certify=options["certify"], seed=options["seed"]).certify
    return options
