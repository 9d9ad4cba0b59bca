"""Points of the plane: N×2, solved as points of space with z = 0 that turn about z and stay there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import columns_of
from tear3d.problem.pairs import Pairs
from tear3d.problem.prior import Prior

AXIS = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class OfThePlane(Prior):
    """That pairs are N×2, and so are their poses and their noise."""

    def words(self) -> str:
        return "of the plane"


def axes_of(pairs: Pairs) -> int:
    """Along how many axes pairs can be off."""
    return 2 if isinstance(pairs.prior, OfThePlane) else 3


class Lifted(NamedTuple):
    """Points in space."""

    source: Any
    target: Any
    prior: Prior | None
    """What is known of the pose: as given, or that it is one of the plane."""


def lifted(source: Any, target: Any, prior: Prior | None) -> Lifted:
    """Both sides as they are, or with z = 0 when both are N×2; an InputError when only one is, or with a prior."""
    flat = [columns_of(points) == 2 for points in (source, target)]
    if not any(flat):
        return Lifted(source, target, prior)
    if not all(flat):
        names = ("source", "target") if flat[0] else ("target", "source")
        raise InputError(
            f"{names[0]} is N×2 and {names[1]} is not: pass both as points of the plane (N×2), or both in space (N×3)"
        )
    if prior is not None:
        raise InputError(
            f"what is known of the pose ({prior.words()}) is about space, but source and target are N×2: leave "
            "rotation_axis, planar, rotation and initial out, or pass N×3"
        )
    return Lifted(in_space(source), in_space(target), OfThePlane.of(rotation_axis=AXIS, planar=True))


def in_space(points: Any) -> NDArray[Any]:
    """N×2 points with z = 0, whatever their type of number."""
    flat = np.asarray(points)
    return np.concatenate([flat, np.zeros((len(flat), 1), flat.dtype)], axis=1)


def drawn(source: Any, target: Any) -> tuple[Any, Any]:
    """Pairs of the plane as points of space, others as they are: for what draws both."""
    return (in_space(source), in_space(target)) if columns_of(source) == 2 else (source, target)
