"""The search as tests call it, and what counts as right."""

from __future__ import annotations

import numpy as np

from tear3d.find.search import Candidate, Search
from tear3d.judge.chance import Chance
from tear3d.lab.metrics import rotation_error
from tear3d.lab.synthetic import Problem
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs


def find_all(pairs: Pairs, *, top: int = 1, rank="significance", limits=None, **options) -> list[Candidate]:
    checked = Options.of(**({"threads": 1} | options))
    search = Search.run(pairs, checked, limits or checked.limits(), Chance)
    found = [search.candidate(member) for member in search.ranked(rank)[:top]]
    return sorted(found, key=lambda candidate: -candidate.saving) if rank == "saving" else found


def find(pairs: Pairs, **options) -> Candidate:
    return find_all(pairs, **options)[0]


def is_right(found: Candidate, pairs: Pairs, problem: Problem) -> bool:
    pose = pairs.frame.outside(found.pose)
    shift = np.linalg.norm(pose.translation - problem.translation)
    return bool(rotation_error(pose.rotation, problem.rotation) < 2.0 and shift < 0.1)
