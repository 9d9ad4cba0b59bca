"""Names for the motions that lead from one pose to others as good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tear3d.judge.ambiguity import FreeMotion
from tear3d.problem.arrays import FloatArray

_MOST_PARTS = 24
"""Parts of a turn that are looked for; finer ones pass for any amount."""
_MANY = 3
"""Amounts without a common step that make any amount of them. Free choice."""


@dataclass
class _Group:
    """Motions about one axis, or along one direction."""

    axis: FloatArray
    through: FloatArray
    amounts: list[float] = field(default_factory=list)


def free_motions(
    pose: FloatArray, others: Sequence[FloatArray], points: FloatArray, *, noise_bound: float = 0.0
) -> tuple[FreeMotion, ...]:
    """What leads from `pose` to the `others`: rotations and translations of the source, in its own coordinates.

    Parameters
    ----------
    pose : (4, 4) array
        The pose that was chosen, target ← source.
    others : sequence of (4, 4) arrays
        Poses that fit as well.
    points : (N, 3) array
        Of the source: how large it is decides which angles and axes are the same.
    noise_bound : float
        Of the poses. Amounts that differ by less than three of it at the rim of the source are the same, axes by less
        than nine; a screw that advances by less than three is a rotation.

    Returns
    -------
    tuple of FreeMotion
        One for every axis of rotation and direction of sliding. The step is the largest amount of which all that were
        seen are multiples; None when three or more have none in common. A screw has no name and is left out.
    """
    from scipy.spatial.transform import Rotation  # slow to import, and rarely needed

    centre = points.mean(axis=0)
    radius = float(np.quantile(np.linalg.norm(points - centre, axis=1), 0.95))
    slack = max(3.0 * noise_bound, 1e-6 * radius)
    turns: list[_Group] = []
    slides: list[_Group] = []
    for other in others:
        motion = np.linalg.solve(pose, other)
        vector = Rotation.from_matrix(motion[:3, :3]).as_rotvec()
        angle = float(np.linalg.norm(vector))
        shift = motion[:3, :3] @ centre + motion[:3, 3] - centre
        if angle * radius <= slack:
            length = float(np.linalg.norm(shift))
            if length > slack:
                _insert(slides, shift / length, centre, length, 3.0 * slack / length, math.inf)
            continue
        axis = vector / angle
        if abs(shift @ axis) > slack:
            continue
        through = centre + _axis_point(motion[:3, :3], shift - (shift @ axis) * axis)
        _insert(turns, axis, through, math.degrees(angle), 3.0 * slack / radius, 3.0 * slack)
    rotations = (
        FreeMotion("rotation", plain(group.axis), plain(group.through), _part_of_a_turn(group.amounts, slack / radius))
        for group in turns
    )
    translations = (
        FreeMotion("translation", plain(group.axis), plain(group.through), _length(group.amounts, slack))
        for group in slides
    )
    return *rotations, *translations


def covered(motion: FreeMotion, free: Sequence[FreeMotion], slack: float) -> bool:
    """Whether a motion is among those that may have any amount; axes less than `slack` apart are the same."""
    kin = [other for other in free if other.kind == motion.kind and other.step is None]
    return len(kin) >= 3 or any(same_axis(motion, other, slack) for other in kin)


def same_axis(motion: FreeMotion, other: FreeMotion, slack: float) -> bool:
    """Whether two motions turn about one axis or slide along one direction; axes may be `slack` apart and 6° askew."""
    if motion.kind != other.kind or np.linalg.norm(np.cross(motion.axis, other.axis)) > 0.1:
        return False
    apart = np.cross(np.subtract(motion.through, other.through), other.axis)
    return motion.kind == "translation" or float(np.linalg.norm(apart)) < slack


def in_words(free: Sequence[FreeMotion], most: int = 3) -> str:
    """A sentence, with the first few of the motions."""
    if not free:
        return "another pose fits as well"
    more = f", and {len(free) - most} more" if len(free) > most else ""
    return "the source fits as well " + ", or ".join(_words(motion) for motion in free[:most]) + more


def _words(motion: FreeMotion) -> str:
    axis = "({:.3g}, {:.3g}, {:.3g})".format(*np.round(motion.axis, 3) + 0.0)
    if motion.kind == "translation":
        return f"after any slide along {axis}" if motion.step is None else f"{motion.step:.3g} further along {axis}"
    turn = "any turn" if motion.step is None else f"a turn by {motion.step:.3g}°"
    return f"after {turn} about {axis}"


def _axis_point(rotation: NDArray[np.floating], shift: NDArray[np.floating]) -> FloatArray:
    """The point c nearest to the origin with R c + shift = c, for a shift across the axis."""
    return np.asarray(np.linalg.lstsq(np.eye(3) - rotation, shift, rcond=1e-9)[0])


def _insert(
    groups: list[_Group], axis: FloatArray, through: FloatArray, amount: float, sine: float, distance: float
) -> None:
    """Into the group with this axis, whichever way it points, or into a new one."""
    for group in groups:
        apart = through - group.through
        apart = apart - (apart @ group.axis) * group.axis
        if np.linalg.norm(np.cross(axis, group.axis)) <= max(sine, 1e-9) and np.linalg.norm(apart) <= distance:
            group.amounts.append(math.copysign(amount, float(axis @ group.axis)))
            return
    groups.append(_Group(axis, through, [amount]))


def _part_of_a_turn(angles: list[float], slack: float) -> float | None:
    slack = max(math.degrees(slack), 1e-6)
    # About 0.3 n² angles are multiples of an n-th of a turn or of a larger part: one alone must not be near by chance.
    most = min(_MOST_PARTS, int(math.sqrt(60.0 / slack))) if len(angles) == 1 else _MOST_PARTS
    for parts in range(2, most + 1):
        step = 360.0 / parts
        # A step not much larger than the slack fits anything.
        if step < 12.0 * slack:
            break
        if all(abs(angle - step * round(angle / step)) <= slack for angle in angles):
            return step
    return None if _distinct(angles, slack) >= _MANY else min(map(abs, angles))


def _length(lengths: list[float], slack: float) -> float | None:
    shortest = min(map(abs, lengths))
    for parts in (1, 2, 3, 4):
        step = shortest / parts
        if all(abs(length - step * round(length / step)) <= slack for length in lengths):
            return step
    return None if _distinct(lengths, slack) >= _MANY else shortest


def _distinct(amounts: list[float], slack: float) -> int:
    return 1 + int(np.count_nonzero(np.diff(np.sort(np.abs(amounts))) > max(slack, 1e-6)))


def plain(vector: FloatArray) -> tuple[float, float, float]:
    """Three numbers of Python's own."""
    x, y, z = (float(value) for value in vector)
    return x, y, z
