"""Local maximisation of the full saving from a given pose."""

from __future__ import annotations

from tear3d.find.newton import climb_band
from tear3d.find.ways import EVERY_WAY, ways_to_try
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed, survey
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

BAND = 4.0
"""Only pairs within this many noise bounds of the start take part in one ascent."""
ROUNDS = 3
"""How often the band is collected anew, at most."""


def climb(
    pairs: Pairs, pose: Pose, loss: Loss, *, graduated: bool = True, limits: Limits | None = None
) -> tuple[Pose, float]:
    """Climb from a pose to a local maximum of the full saving over all pairs.

    A graduated truncated least-squares start (3ξ to ξ), then reweighted Gauss-Newton on the loss itself; only
    improvements are kept, so the result never saves less than the start. The work is done on the pairs in a band around
    the start; the rest is read once or twice per round.

    Parameters
    ----------
    pairs : Pairs
    pose : Pose
        The start.
    loss : Loss
    graduated : bool
        Start wide; not needed from a pose that is already refined.
    limits : Limits, optional
        The best so far is returned when they are over.

    Returns
    -------
    pose, saving
        The pose and its saving over all pairs.
    """
    best = climb_from(survey(pairs, pairs.allow(pose), loss, BAND), pairs, loss, graduated=graduated, limits=limits)
    return best.pose, best.saving


def climb_from(
    here: Surveyed, pairs: Pairs, loss: Loss, *, graduated: bool = False, limits: Limits | None = None
) -> Surveyed:
    """The same from a pose that was surveyed to BAND noise bounds, and so is the result. Where only some poses are
    allowed, from one of them to one of them."""
    for number in range(ROUNDS):
        if len(here.rows) < 3 or (limits is not None and limits.over()):
            break
        there = _ascended(here, pairs, loss, graduated and number == 0)
        if not there.saving > here.saving:
            break
        gained, here = there.saving - here.saving, there
        if gained <= 1e-3 * here.saving:
            break
    return here


def _ascended(here: Surveyed, pairs: Pairs, loss: Loss, graduated: bool) -> Surveyed:
    """Where one ascent leads; at a limit of what is allowed, the better of two, one of which stays at the limit."""
    prior = pairs.prior
    if prior is None:
        return _ascent(here, pairs, loss, graduated, EVERY_WAY)
    arm = here.pose.apply(prior.point) - pairs.y[here.rows].mean(axis=0)
    ways = ways_to_try(prior, here.pose, arm)
    return max((_ascent(here, pairs, loss, graduated, free) for free in ways), key=lambda reached: reached.saving)


def _ascent(here: Surveyed, pairs: Pairs, loss: Loss, graduated: bool, free: FloatArray) -> Surveyed:
    start = here.pose
    row = climb_band(
        pairs.x,
        pairs.y,
        pairs.xi,
        pairs.w,
        here.rows,
        start.rotation,
        start.translation,
        loss.code,
        graduated,
        free,
    )
    return survey(pairs, pairs.allow(Pose.from_row(row)), loss, BAND)
