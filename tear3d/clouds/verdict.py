"""Whether two clouds bear out a pose: what is measured, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tear3d.judge.ambiguity import Ambiguity
from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.verdict import could_be_chance
from tear3d.problem.strict import strict

CloudVerdict = Literal["confirmed", "doubtful", "rejected"]

# What follows was chosen by looking at 120 pairs of scans of different places, 12 mirrored scans and 25 pairs of scans
# that belong together, 840 poses in all, and at two dozen generated objects and rooms. WEAK_FIT, HALF, WIDE, WIDE_FIT,
# SEEN_FIT, CLEAR and ASKED came later, from cases of the kinds that `python -m benchmarks.verdict --data FOLDER` makes
# (mirrored scans, generated rooms and balls with bumps, street scans 20 m apart), so it is no independent test of them;
# of the others it measures some on pairs that were not looked at. `docs/clouds.md` tells the margins.
CONFIRMED_FIT = 0.18
"""Of the fit. Right poses have 0.21 and more, scans of a street 20 m apart being the lowest; scans of different places
at most 0.14 if free space does not contradict the pose, the best of all tries."""
ALONE_FIT = 0.3
"""Where no viewpoint is plausible, so that free space says nothing. Scans of different places have at most 0.21. Also
in a map, where a pose at the border has nothing that free space could contradict: so that does not make up for weak
matches either. Scans of made-up towns reached 0.40 in the map of another, but only by matches that say little."""
STRONG, WEAK = -6.0, SIGNIFICANT
"""Significance of the matches from which on they count in full, and from which on they could be chance; in between,
what is asked of the clouds falls from one fit to the other."""
WEAK_FIT = 0.75
"""Where the clouds must speak for themselves and free space does not: matches that could be chance lead to poses that
lay walls on walls, up to 0.5 for complete models of different rooms and 0.7 for mirrored round things."""
HALF, WIDE, WIDE_FIT = 0.5, 0.6, 0.9
"""Where so much overlaps, right matches abound: if they could be chance (from half on), or say little, nearly all of
the surface must agree. Else the mirror image of a street passes for it. The same in a map, of whose many places some
resemble the scan: of 44 scans of made-up towns in the map of another, two had fits of 0.53 and 0.68."""
INSIDE, BEYOND_CHANCE = 0.9, -15.0
"""Share of a scan that must lie on the surfaces of a map, unless the matches are more significant than this. Of 87
scans of made-up towns in the map of another, 0.38 to 0.91 lay on it, and the matches had no less than -8.2 (the best of
many places is easily 10⁴ times as good as one), -10.3 of 91 more; of 35 in their own map all but a hundredth. Free
choices between."""
SEEN_FIT, CLEAR = 0.2, 0.01
"""Where the clouds must speak for themselves and free space does too: seen from a sure viewpoint, with no more than a
hundredth contradicted."""
ASKED = 0.15
"""Share of the surface that must lie more than three voxels from the other: only there can free space contradict.
Right poses that rest on it, street scans 20 m apart, have 0.2 (once) to 0.47; balls with other bumps, laid one on the
other, less than 0.1. A free choice between the two."""
REJECTED_FIT = 0.1
"""Below, less agrees than where surfaces that have nothing to do with each other cross."""
PRICE = 8.0
"""Every hundredth of the points that is contradicted asks for 0.08 more of the fit: where scans fit by symmetry, as a
mirrored room does, or because both show a ball with bumps, it is the free space that tells. Right poses have at most
0.03 (moving things, thin ones between two rays), most less than 0.01; wrong ones that fit well 0.05 and more."""
REFUTED = 0.15
"""So much contradiction is never made up for, where it is sure from where the scan was taken."""
GUESSED_FIT = 0.45
"""What contradiction asks for at most where the viewpoint is a guess: parts cut out of a model have 0.55 and more with
an overlap of half of each, wrong poses that only such a guess contradicts at most 0.39."""
FEWEST, FEWEST_WHOLE = 10.0, 4.0
"""Points that face along the weakest axis: fewer could all agree by chance; less so where nearly everything agrees."""
WHOLE_FIT = 0.6
"""Of clouds that fit as a whole: twice what scans of different places reach."""
SAME_POSE = 3.0
"""Noise bounds: a pose from which the clouds settle farther away is another one, as it is for the search."""


@dataclass(frozen=True)
class CloudEvidence:
    """How two clouds fit under a pose, after a few steps of alignment from it; NaN for what was not measured.

    A point agrees when a point of the other cloud lies within a voxel and its surface faces the same way, within 30°.
    Surfaces are counted along three axes, the principal ones of the normals of the overlap, each point by how much it
    faces along them; the geometric mean of the three and the smaller of both directions counts. So a floor on a floor
    says little, however large it is.
    """

    overlap_source: float = math.nan
    """Share of the source points with a target point within a voxel."""
    overlap_target: float = math.nan
    """Share of the target points with a source point within a voxel."""
    normals: float = math.nan
    """Share of those source points whose surfaces face the same way, or the opposite."""
    agreement: float = math.nan
    """Of the surface within three voxels of the other cloud, how much agrees: surfaces that cross by chance are as
    often three voxels apart as one."""
    coverage: float = math.nan
    """Of all the surface, how much agrees."""
    support: float = math.nan
    """Points that agree and face along the axis that has fewest."""
    contradicted: float = math.nan
    """Share of the points that lie where the other scan saw through, of those and the ones on its surface; the larger
    of both directions. Of scans whose sensor stood in their middle, at the origin; NaN for others, and where the fit
    is so low that it does not matter."""
    perhaps_contradicted: float = math.nan
    """The same of other scans, from that place of the plausible ones from which it is least: the origin, and far away
    along the axes. NaN when no place explains the cloud."""
    drift: float = math.nan
    """How far the clouds moved the points from the pose of the matches, in noise bounds."""
    residual: float = math.nan
    """Root mean square distance of the overlapping source points to the nearest target points, in voxels."""
    voxel_size: float = math.nan
    """Of the clouds that were compared: those of the first try, thinned further beyond 50 000 points."""
    in_map: bool = False
    """The target is a map, many times as large as the source: of it only what lies in the box around the source was
    compared, and is what `overlap_target`, `agreement` and `coverage` refer to."""

    @property
    def overlap(self) -> float:
        """The smaller of both directions."""
        return min(self.overlap_source, self.overlap_target)

    @property
    def fit(self) -> float:
        """Geometric mean of agreement and coverage, 0 to 1."""
        return math.sqrt(self.agreement * self.coverage)

    @property
    def blind(self) -> bool:
        """It is not known of either cloud from where it was seen."""
        return math.isnan(self.contradicted) and math.isnan(self.perhaps_contradicted)

    @property
    def clear(self) -> bool:
        """Free space was seen from a sure viewpoint, could have contradicted the pose, and hardly does."""
        asked = self.coverage <= (1.0 - ASKED) * self.agreement
        return asked and self.contradicted <= CLEAR and not self.perhaps_contradicted > CLEAR

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: None instead of NaN."""
        values: dict[str, Any] = strict(vars(self) | {"overlap": self.overlap, "fit": self.fit})
        return values


class Judgement(NamedTuple):
    """A verdict and its reasons in words."""

    verdict: CloudVerdict
    reasons: tuple[str, ...]


def judge(
    known: CloudEvidence,
    significance: float,
    *,
    settled: bool = True,
    ambiguity: Ambiguity | None = None,
    held: bool = True,
) -> Judgement:
    """What follows from the evidence.

    Parameters
    ----------
    known : CloudEvidence
    significance : float
        Of the pose among the matches.
    settled : bool
        The pose is the one that the clouds settled at, not the one they started from.
    ambiguity : Ambiguity, optional
        Why another pose may be meant just as well.
    held : bool
        The refined clouds say of every direction where they are, so that there is a covariance.
    """
    if math.isnan(known.fit):
        return Judgement("doubtful", ("the clouds were not compared: stopped before",))
    against = tuple(_refutations(known))
    if against:
        return Judgement("rejected", against)
    doubts = tuple(_doubts(known, significance, settled))
    if ambiguity is not None:
        doubts += (f"ambiguous: {ambiguity.sentence}",)
    elif not held:
        doubts += ("how exact the pose is cannot be told: the clouds may slide or turn along each other",)
    return Judgement("doubtful", doubts) if doubts else Judgement("confirmed", (_grounds(known),))


def _refutations(known: CloudEvidence) -> list[str]:
    found = []
    if known.contradicted > REFUTED:
        found.append(
            f"{_percent(known.contradicted)} of the points that could be compared lie where the other scan saw through"
        )
    if known.fit < REJECTED_FIT:
        found.append(f"the surfaces do not agree: fit {known.fit:.2f}, as between clouds that have nothing in common")
    return found


def _doubts(known: CloudEvidence, significance: float, settled: bool) -> list[str]:
    found = []
    wanted, why = _wanted(known, significance)
    if known.fit < wanted:
        found.append(f"the surfaces agree too little: fit {known.fit:.2f}, {wanted:.2f} is asked for{why}")
    if known.in_map and significance > BEYOND_CHANCE and known.overlap_source < INSIDE:
        found.append(
            f"only {_percent(known.overlap_source)} of the source lie on the map, {_percent(INSIDE)} are asked for "
            "unless the matches are beyond all chance"
        )
    if known.support < (FEWEST_WHOLE if known.fit >= WHOLE_FIT else FEWEST):
        found.append(f"only {known.support:.0f} points say where the clouds are along one direction")
    if not settled and known.drift > SAME_POSE:
        found.append(f"the clouds settle {known.drift:.1f} noise bounds away from this pose")
    return found


def wanted_fit(known: CloudEvidence, significance: float) -> float:
    """The fit that a pose with this evidence must have to be confirmed."""
    return _wanted(known, significance)[0]


def _wanted(known: CloudEvidence, significance: float) -> tuple[float, str]:
    """The fit that is asked for, and why it is more than usual."""
    sure, guessed = (0.0 if math.isnan(v) else v for v in (known.contradicted, known.perhaps_contradicted))
    most = CONFIRMED_FIT + PRICE * sure, min(GUESSED_FIT, CONFIRMED_FIT + PRICE * guessed)
    reasons = [(CONFIRMED_FIT, "")]
    reasons += [
        (wanted, f", as {_percent(share)} of the points lie where the other scan {seen} through")
        for wanted, share, seen in ((most[0], sure, "saw"), (most[1], guessed, "seems to have seen"))
    ]
    weak = min(1.0, max(0.0, (significance - STRONG) / (WEAK - STRONG)))
    if weak > 0.0:
        low, high = (CONFIRMED_FIT, SEEN_FIT) if known.clear and not known.in_map else (ALONE_FIT, WEAK_FIT)
        chance = could_be_chance(significance)
        if known.in_map or known.overlap > (HALF if chance else WIDE):
            low, high = ALONE_FIT, WIDE_FIT
        say = "could be chance" if chance else "say little"
        reasons.append((low + weak * (high - low), f", as the matches alone {say}"))
    if known.in_map:
        reasons.append((ALONE_FIT, ", as the best of many places in a map"))
    if known.blind:
        reasons.append((ALONE_FIT, ", as the viewpoints are not known"))
    fit, why = max(reasons, key=lambda reason: reason[0])
    return min(fit, 1.0), why


def _grounds(known: CloudEvidence) -> str:
    shares = [share for share in (known.contradicted, known.perhaps_contradicted) if not math.isnan(share)]
    free = f"{_percent(max(shares))} contradicted" if shares else "viewpoints unknown"
    return (
        f"the surfaces agree: fit {known.fit:.2f}, overlap {_percent(known.overlap_source)} of the source and "
        f"{_percent(known.overlap_target)} of the target{' around it' if known.in_map else ''}, {free}"
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %" if share >= 0.001 or share == 0.0 else "less than 0.1 %"
