"""Maps of made-up registrations, without registering anything: quick, and with wrong edges where they are wanted."""

from __future__ import annotations

import time

import numpy as np

from tear3d.judge.uncertainty import carried
from tear3d.mapping.assemble import assemble
from tear3d.mapping.pairwise import Found, How, Tried
from tear3d.mapping.scans import Given, Scans
from tear3d.mapping.survey import Survey
from tests.bumpy import pose
from tests.mapping.survey import survey

VOXEL, NOISE_BOUND = 0.4, 0.6
COVARIANCE = np.diag([1e-4] * 3 + [1e-3] * 3) ** 2
OTHERWISE = pose([0.1, 0.2, 1.0], [3.0, -2.0, 0.5])


def found(T, verdict="confirmed", away=0.0) -> Found:
    about = carried(COVARIANCE, 1.0, np.zeros(3) + away)
    return Found(T, about, verdict, (f"{verdict} as made up",), 0.7, 0.5, "uncertified", np.nan, -20.0, True)


def tried(i, j, truth, kind="confirmed", away=0.0) -> Tried:
    """A registration of scan j to scan i: "confirmed", "doubtful", "rejected", "wrong" or "failed"."""
    T = np.linalg.inv(truth[i]) @ truth[j]
    if kind == "failed":
        return Tried(i, j, "order", None, "only 2 matches as made up", 0.1)
    verdict = kind if kind != "wrong" else "confirmed"
    return Tried(i, j, "order", found(OTHERWISE @ T if kind == "wrong" else T, verdict, away), "", 0.1)


def made_map(pairs, *, count=6, given=None, max_tries=None, left_out=(), away=None):
    """A map of `count` scans on a loop; `pairs` maps (i, j) to a kind of registration; `away` moves their origins."""
    scans, truth = survey(count, 600, radius=3.0)
    if away is not None:
        there, back = (pose([0.0] * 3, way) for way in (away, -away))
        scans, truth = [scan + away for scan in scans], there @ truth @ back
    with Scans.of(Given.of(scans if given is None else given(scans)), VOXEL, lambda k: None) as kept:
        how = How(VOXEL, NOISE_BOUND)
        made = Survey(kept, how, max_tries, lambda report: None, left_out=set(left_out))
        far = 0.0 if away is None else away
        made.tried = {pair: tried(*pair, truth, kind, far) for pair, kind in pairs.items()}
        return assemble(made, {"order": True}, time.perf_counter()), scans, truth


def loop(count=6, reach=2) -> dict[tuple[int, int], str]:
    """All confirmed, around a loop that closes."""
    pairs = [(k, (k + step) % count) for k in range(count) for step in range(1, reach + 1)]
    return {(min(pair), max(pair)): "confirmed" for pair in pairs}
