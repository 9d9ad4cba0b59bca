"""A made-up result with two motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tear3d.result import Result
from tests.report.case import make_case


def two_motions(second: str = "optimal") -> Result:
    """Of 200 pairs, 60 and 40 of which agree with one of them."""
    _, base = make_case(200)
    masks = np.zeros((2, 200), np.bool_)
    masks[0, :60] = masks[1, 60:100] = True
    other = np.eye(4)
    other[:3, 3] = [1234.5678, -0.5, 22.25]
    first = replace(base, inlier_mask=masks[0], settings={"max_instances": 3}, status="optimal", ambiguity=None)
    two = replace(first, inlier_mask=masks[1], transformation=other, status=second)
    return replace(first, instances=(first, two))
