"""`solve` for several motions: each proven among the pairs that the ones before it leave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tear3d.instances.accept import Peers, accepted, without
from tear3d.instances.peel import Motion, left_by, peeled, same_as
from tear3d.instances.words import among, how_many
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import POSE
from tear3d.result import Result
from tear3d.solving import solve


def solve_instances(pairs: Pairs, options: Options, limits: Limits) -> Result:
    """The result of the first motion, with those of all as its `instances`: none when even that could be chance."""
    if pairs.prior is None:
        pairs = pairs.confined(options.prior)
    motions = peeled(pairs, options, limits)
    ended = limits.exceeded() if limits.over() else None  # cells are none of this search
    with limits.timed("judgement"):
        found = accepted(pairs, motions)
    if not found:
        return solve(pairs, options, limits, motions[0].search)
    seconds = limits.laps
    results = _proven(pairs, motions, found, options, limits)
    for result in results:
        for name, took in result.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + took
    limits.laps = seconds
    instances = tuple(result for result in results if result.success)
    first = instances[0] if instances else results[0]
    message = how_many(first.message, len(instances), options.max_instances, ended)
    return replace(first, instances=instances, seconds=seconds, message=message)


def _proven(pairs: Pairs, motions: list[Motion], found: list[Motion], options: Options, limits: Limits) -> list[Result]:
    """As many as were asked for, in the order in which they were peeled."""
    dropped = without(motions, found)
    jury = Peers(pairs, found, dropped) if len(motions) > 1 and len(found) > 1 else None
    waiting, poses, results = list(found), list[Pose](), list[Result]()
    while waiting and len(results) < options.max_instances:
        own = waiting[0]
        before = motions[: next(number for number, motion in enumerate(motions) if motion is own)]
        chance = [motion.pose for motion in without(before, found)]
        rows = left_by(pairs, [*poses, *chance], [motion.pose for motion in waiting])
        some = pairs if len(rows) == len(pairs) else _kept(pairs, rows)
        limits.laps = {}
        with _part_of(limits, min(options.max_instances - len(results), len(waiting))):
            result = solve(some, options, limits, own.search, own.pose, jury)
        pose = pairs.frame.inside(Pose.of(result.rotation, result.translation))
        results.append(replace(result, message=among(result.message, len(some), len(results), len(chance))))
        poses.append(pose)
        # A proof may find a better pose than the one it began with: that of another motion, perhaps.
        reached = same_as(pairs, [motion.pose for motion in waiting], pose)
        if reached is not None:
            waiting.pop(reached)
    return results


def _kept(pairs: Pairs, rows: NDArray[np.int64]) -> Pairs:
    """Some of the pairs, which know what they are of those given."""
    return replace(pairs.take(rows), rows=rows if pairs.rows is None else pairs.rows[rows])


@contextmanager
def _part_of(limits: Limits, parts: int) -> Iterator[None]:
    """While the block runs, what is left of time and cells is divided by the number of instances to come."""
    whole = limits.time_limit, limits.node_limit, limits.proof_limit
    if limits.time_limit is not None:
        limits.time_limit -= max(0.0, limits.time_limit - limits.seconds) * (1.0 - 1.0 / parts)
    if limits.node_limit is not None:
        limits.node_limit -= limits.cells_left() * (parts - 1) // parts
    if limits.proof_limit is not None:
        limits.proof_limit /= parts
    try:
        yield
    finally:
        limits.time_limit, limits.node_limit, limits.proof_limit = whole
        if limits.proof_limit is not None:
            limits.proof_limit = max(0.0, limits.proof_limit - limits.laps.get(POSE, 0.0))
