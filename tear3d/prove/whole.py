"""The whole pose at once: six dimensions, and the proof is about the pose that is returned."""

from __future__ import annotations

from dataclasses import replace

from tear3d.problem.limits import Limits, relative_gap
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
    certificate = found.certificate
    elsewhere = pairs.aside_total(options.the_loss)
    if elsewhere > certificate.saving_bound:  # poses that only pairs set aside agree with; mathematics.md, section 1.5
        gap = relative_gap(certificate.saving, elsewhere)
        certificate = replace(
            certificate,
            saving_bound=elsewhere,
            lower_bound=stage.total - elsewhere,
            closed=gap <= options.rel_gap,
            ended_by="gap" if gap <= options.rel_gap else "set_aside",
        )
    return Scored(found.solution, certificate.saving), (Attempt((certificate,), agrees=True),)
