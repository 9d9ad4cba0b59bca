"""What a result may be called.

============  ==========================================================================  ===================
status        when                                                                        success
============  ==========================================================================  ===================
optimal       the proof is complete, it is about this pose, and it stands out from chance yes
uncertified   it stands out; no proof was asked for, or the proof did not succeed         yes
time_limit    the limit ended the call before what was asked for was done                 unless maybe chance
node_limit    likewise                                                                    unless maybe chance
interrupted   likewise, by Ctrl-C or by the progress callback                             unless maybe chance
no_consensus  the search for candidates is complete, and the best could be chance         no
============  ==========================================================================  ===================

What could be chance gets no proof; the paper's method, which is nothing but a proof, has tried one all the same.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from tear3d.judge.ambiguity import Alternative, Ambiguity
from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.rivals import CLOSE
from tear3d.problem.limits import Stop
from tear3d.problem.options import Proof
from tear3d.prove.certificate import Certificate

NOT_NEAR = 0.5
"""When nothing elsewhere can save more than this share of what the pose does, no other comes near (free choice)."""
ANY = 3
"""Pairs that determine a pose."""
Status = Literal["optimal", "time_limit", "node_limit", "interrupted", "uncertified", "no_consensus"]

HARDLY = 10.0
"""With a larger gap the sentence says so many times as much (free choice, that of `up_to_percent`)."""
_ENDED = {
    "time_limit": "the time limit ended the search",
    "node_limit": "the node limit ended the search",
    "interrupted": "the search was interrupted",
}


_BEATEN = (
    "the best candidate that stands out from chance; nothing is proven of it, since another pose saves more that could "
    "be chance"
)

MORE = 1.5
"""A pose that is not allowed is told of when it saves so many times as much (free choice: with few pairs some that fit
their noise save an eighth more)."""


class Evidence(NamedTuple):
    """What is known at the end of a call."""

    level: float
    """The significance: log10 of the modelled chance that meaningless data show a pose that stands out like this."""
    num_inliers: int
    certify: Proof
    certificate: Certificate
    ended: Stop | None
    """What ended the call before it was done."""
    candidates_done: bool
    """Whether the search for candidates came to its end."""
    aside: int = 0
    """Pairs set aside: they save nothing with any pose that a pair of the rest agrees with."""
    aside_may_win: bool = False
    """Whether they could save more among themselves than this pose does."""
    ambiguity: Ambiguity | None = None
    alone: float = 0.0
    """The level without a look at the other poses."""
    places: int | None = None
    """Different ones in which the pairs that agree lie, where that was counted."""
    resolution: float | None = None
    """Radians, where cells this narrow are not split though they could be."""
    scope: str = ""
    """The poses that are allowed, as words after "of the poses"; empty for all."""
    at_edge: bool = False
    """Whether the pose lies at the edge of what is allowed."""
    beyond: float = 0.0
    """How many times what the pose saves some pose saves that is not allowed, as far as was looked."""
    similar: bool = False
    """Whether it is a similarity, whose scale is free."""
    beaten: bool = False
    """Whether a pose that could be chance saves more."""


def could_be_chance(level: float) -> bool:
    """Whether a pose of this significance counts as one that meaningless data show too."""
    return not level <= SIGNIFICANT


def verdict(known: Evidence) -> tuple[Status, str]:
    """The status of a result and the sentences that go with it."""
    status, message = _verdict(known)
    if known.aside and message != _aside(known):
        message += f" ({_pairs(known.aside)} set aside, too far from all others to agree with a pose of theirs)"
    if known.at_edge and status != "no_consensus":
        message += "; the pose lies at the edge of what is allowed, beyond which nothing was looked at"
    if known.beyond >= MORE:
        times = f"{known.beyond:.2g}" if known.beyond < 99.5 else f"{known.beyond:.0f}"
        message += f"; a pose that is not allowed saves about {times} times as much"
    return status, said_first(known.ambiguity, message)


def said_first(ambiguity: Ambiguity | None, message: str) -> str:
    """The message, after the ambiguity if there is one."""
    return message if ambiguity is None else f"ambiguous: {ambiguity.sentence}; {message}"


def near_tie(others: tuple[Alternative, ...], saving: float) -> Ambiguity | None:
    """That other poses save nearly as much as the best, which saves `saving`; None when none of these does."""
    close = [other for other in others if other.saving > CLOSE * saving and not could_be_chance(other.significance)]
    if not close:
        return None
    share = f"{100.0 * max(other.saving for other in close) / saving:.0f} % of what this one does"
    if len(close) == 1:
        return Ambiguity(f"another pose saves {share}")
    return Ambiguity(f"{len(close)} other poses save nearly as much (the best of them {share})")


def up_to_percent(fraction: float) -> str:
    """A bound in percent, rounded up to two digits so that it stays one: 0.00093 → 0.093 %, 1.234 → 124 %. More than
    1000 % are a factor, 12.34 → 13×."""
    value = 100.0 * fraction
    if not value > 0.0:
        return "0 %"
    if value > 1000.0:
        return factor(fraction)
    step = 10.0 ** min(0, max(-4, math.floor(math.log10(value)) - 1))
    value = math.ceil(value / step * (1.0 - 1e-9)) * step
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %"


def factor(fraction: float) -> str:
    """So many times as much, rounded up to two digits: 12.34 → 13×, 12345 → 13000×."""
    step = 10.0 ** (math.floor(math.log10(fraction)) - 1)
    rounded = math.ceil(fraction / step * (1.0 - 1e-9)) * step
    return f"{rounded:.0f}×" if rounded < 1e6 else f"{rounded:.1e}×"


def _verdict(known: Evidence) -> tuple[Status, str]:
    chance = could_be_chance(known.level)
    doubt = _doubt(known)
    if chance and known.candidates_done:
        untried = "; no proof was tried" if known.certify and not known.certificate.stages else ""
        return "no_consensus", doubt + untried
    certificate = known.certificate
    proven = certificate.closed and certificate.agrees and not chance and not known.aside_may_win
    if proven and known.certify == "pose":
        return "optimal", about_pose(certificate, ambiguous=known.ambiguity is not None)
    if proven:
        return "optimal", f"both rows are globally optimal within {certificate.gap:.2g} of the saving{_notes(known)}"
    asked = known.certify or not known.candidates_done
    if known.ended is not None and asked:
        return known.ended, _ended_early(known, doubt if chance else None)
    if not known.certify:
        among = f" of the poses {known.scope}" if known.scope else ""
        return "uncertified", f"the best candidate{among}; nothing was proven (certify=False)"
    if known.beaten:
        return "uncertified", _BEATEN
    if known.aside_may_win:
        return "uncertified", _aside(known)
    if certificate.closed:
        text = "the pose has the best full objective found, but it is not made of proven rows"
        return "uncertified", text + _notes(known)
    if any(stage.ended_by == "set_aside" for stage in certificate.stages):
        return "uncertified", _aside(known)
    if any(stage.ended_by == "memory_limit" for stage in certificate.stages):
        until = about_pose(certificate, ambiguous=known.ambiguity is not None)
        wanted = max(stage.memory_wanted or 0 for stage in certificate.stages)
        enough = f" (one of about {-(-wanted // 2**20)} MiB would hold them)" if wanted else ""
        return (
            "uncertified",
            f"the pairs that still matter do not fit into the memory limit{enough}; until then: {until}",
        )
    return "uncertified", _too_narrow(known)


def _too_narrow(known: Evidence) -> str:
    if known.resolution is None:
        return "the gap could not be closed at the resolution of the numbers"
    reached = f"the search ended at its branch resolution of {known.resolution:g} rad before the gap was closed"
    if not known.certificate.agrees:
        return f"{reached}; the rows found are not those of this pose"
    return f"{reached}: no row saves more than {up_to_percent(known.certificate.gap)} beyond the one found"


def _doubt(known: Evidence) -> str:
    few = _too_few(known)
    if few is not None:
        return f"{few} (significance {known.level:.1f})"
    among = f" with one of the poses {known.scope}" if known.scope else ""
    pairs = "one pair" if known.num_inliers == 1 else f"{known.num_inliers} pairs"
    consensus = f"a consensus of {pairs}{among}"
    if known.alone <= SIGNIFICANT:
        return f"{consensus} does not stand out from the other poses of these pairs (significance {known.level:.1f})"
    return f"{consensus} is not distinguishable from chance (significance {known.level:.1f})"


def _too_few(known: Evidence) -> str | None:
    """That three pairs say nothing, nor do more in three places; None when there are more."""
    if known.num_inliers == 0:
        return f"no pair agrees with this pose{f', of those {known.scope}' if known.scope else ''}"
    if known.scope:  # fewer determine a pose, and lengths are not all that counts
        return None
    if known.num_inliers < ANY:
        return f"{_agree(known.num_inliers)} with this pose: fewer than the {ANY} that determine one"
    kept = "whose {0} all change by one factor" if known.similar else "that keep their {0}"
    if known.num_inliers == ANY:
        return f"{ANY} pairs agree with this pose, as any {ANY} pairs {kept.format('lengths')} agree with some pose"
    if known.places is not None and known.places <= ANY:
        return (
            f"the {known.num_inliers} pairs that agree with this pose lie in no more than {ANY} places up to the noise "
            f"bound, and any {ANY} places {kept.format('distances')} agree with some pose"
        )
    return None


def _agree(count: int) -> str:
    return "one pair agrees" if count == 1 else f"{count} pairs agree"


def _ended_early(known: Evidence, doubt: str | None) -> str:
    reason = _ENDED[str(known.ended)]
    if doubt is not None:
        return f"{reason} before a pose was found that stands out from chance: {doubt}"
    if not known.certify or not known.certificate.stages:
        return f"{reason} before anything was proven; this is the best pose until then"
    if not known.certificate.agrees:
        return f"{reason}; the rows found until then are not those of this pose"
    if known.certify == "pose":
        return f"{reason}; until then: {about_pose(known.certificate, ambiguous=known.ambiguity is not None)}"
    return f"{reason}; the gap says what was proven until then"


def about_pose(certificate: Certificate, *, ambiguous: bool) -> str:
    """What is proven about the pose: that nothing saves more, and how near anything else can come."""
    if not math.isfinite(certificate.gap):
        return "nothing is proven about this pose"
    none = f"of the poses {certificate.scope} none" if certificate.scope else "no rotation and translation"
    more = f"{up_to_percent(certificate.gap)} beyond this one"
    if certificate.gap > HARDLY:
        more = f"{factor(1.0 + certificate.gap)} what this one does"
    return (
        f"{none} saves more than {more}"
        f"{_elsewhere(certificate.runner_up, ambiguous, ' of them' if certificate.scope else '')}"
    )


def _elsewhere(share: float | None, ambiguous: bool, these: str = "") -> str:
    if share is None:
        return ""
    share, most = round(share, 9), up_to_percent(share)  # units must not make a difference
    if share <= NOT_NEAR:
        other = f"no other{these}" if these else "no other pose"
        return f", and {other} comes near (none{these} elsewhere saves more than {most} of it)"
    if share <= CLOSE or (ambiguous and share < 1.0):
        return f", and none{these} elsewhere saves more than {most} of it"
    if ambiguous:
        return ""
    pose = f"one{these}" if these else "a pose"
    return f"; that {pose} elsewhere saves {'as much' if share >= 1.0 else f'up to {most} of it'} is not excluded"


def _notes(known: Evidence) -> str:
    """Attempts that disagreed."""
    attempts = known.certificate.attempts
    against = sum(not attempt.agrees for attempt in attempts)
    if len(attempts) < 2:
        return ""
    return f" ({len(attempts)} directions were tried; the rows along {against} of them are not those of this pose)"


def _aside(known: Evidence) -> str:
    return f"{_pairs(known.aside)} set aside, far from all others, may save more among themselves"


def _pairs(count: int) -> str:
    return "one pair that was" if count == 1 else f"{count} pairs that were"
