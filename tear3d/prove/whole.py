"""The whole pose at once: six dimensions, and the proof is about the pose that is returned."""

from __future__ import annotations

from tear3d.problem.limits import Limits
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.prove.certificate import Attempt
from tear3d.prove.driver import maximise
from tear3d.prove.pose.stage import WholePose


def prove_pose(pairs: Pairs, start: Scored, options: Options, limits: Limits) -> tuple[Scored, tuple[Attempt, ...]]:
    """The best pose by the full objective, and what is proven about it.

    Parameters
    ----------
    pairs, start
        The pairs, and a very good pose. A poor one costs no correctness but all speed.
    options, limits
    """
    with limits.timed("full problem"):
        stage = WholePose(pairs, options.the_loss, start.pose)
        found = maximise(
            stage, stage.start(start.pose), rel_gap=options.rel_gap, limits=limits, threads=options.threads
        )
    return Scored(found.solution, found.certificate.saving), (Attempt((found.certificate,), agrees=True),)
