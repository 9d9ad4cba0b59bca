"""A few distinct poses, refined and ranked by the full objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.find.ascent import BAND, climb_from
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES, Loss
from tear3d.problem.objective import survey
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

SIZE = 16
"""Poses kept; more than any problem at hand needed."""
SAME = 3.0
"""Two poses are the same when they put six points, one spread from the centre along each axis, less than this many
noise bounds apart."""

Judge = Callable[[Pose], float]
"""How likely a pose's consensus is chance: log10 of the expected number, lower is better."""


@dataclass
class Member:
    """A refined pose of the pool, in the pool's coordinates."""

    pose: Pose
    saving: float
    count: int
    image: FloatArray = field(repr=False)
    """Where it puts the probes of the pool."""
    significance: float | None = None


@njit(cache=True, nogil=True, error_model="numpy")
def _all_within(images, own, distance, out):
    """out[k] = whether all points of the k-th image lie within a distance of those of another."""
    for k in range(images.shape[0]):
        out[k] = True
        for p in range(0, images.shape[1], 3):
            a, b, c = images[k, p] - own[p], images[k, p + 1] - own[p + 1], images[k, p + 2] - own[p + 2]
            if not a * a + b * b + c * c < distance * distance:
                out[k] = False
                break


class Probes:
    """Six points of a cloud, by whose images poses are told apart."""

    def __init__(self, pairs: Pairs) -> None:
        columns = pairs.columns[:3]
        mean, spread = columns.mean(axis=1), np.diag(columns.std(axis=1))
        self.points = mean + np.concatenate([spread, -spread])
        self.limit = SAME * pairs.typical_bound
        # Images are linear in the twelve numbers of a pose: one product finds those of many.
        linear = np.zeros((12, 6, 3))
        for axis in range(3):
            linear[3 * axis : 3 * axis + 3, :, axis] = self.points.T
            linear[9 + axis, :, axis] = 1.0
        self._linear = linear.reshape(12, 18)

    def images(self, poses: FloatArray) -> FloatArray:
        """Where poses (rows of 12 numbers) put the points: eighteen numbers each."""
        return np.asarray(poses @ self._linear)

    def same(self, images: FloatArray, own: FloatArray) -> NDArray[np.bool_]:
        """Which images are nearly `own`."""
        out = np.empty(len(images), np.bool_)
        _all_within(images, own, self.limit, out)
        return out


class Pool:
    """Distinct local maxima of the full saving over the given pairs, best first."""

    def __init__(self, pairs: Pairs, loss: Loss, judge: Judge, limits: Limits) -> None:
        self.pairs, self.loss, self.limits = pairs, loss, limits
        self.members: list[Member] = []
        self._judge = judge
        self._starts = np.empty((0, 18))
        self._reached: list[Member] = []
        self.ceiling = pairs.total(loss)
        self.probes = Probes(pairs)

    @property
    def best(self) -> Member | None:
        return self.members[0] if self.members else None

    def significance(self, member: Member) -> float:
        """Of a member, over the pool's pairs."""
        if member.significance is None:
            member.significance = self._judge(member.pose)
        return member.significance

    def near(self, images: FloatArray, member: Member) -> NDArray[np.bool_]:
        """Which of the imaged poses are the same as a member."""
        return self.probes.same(images, member.image)

    def offer(self, pose: FloatArray) -> Member:
        """Refine a pose (12 numbers) unless one like it was; return the member it led to (kept or not)."""
        image = self.probes.images(pose)
        known = self.probes.same(self._starts, image)
        if known.any():
            return self._reached[known.argmax()]
        member = self._insert(self._refine(Pose.from_row(pose), self.loss))
        self._starts = np.vstack((self._starts, image))
        self._reached.append(member)
        return member

    def polish(self, member: Member) -> Member:
        """The better of the member and what an ascent by way of least squares makes of it."""
        if self.limits.over():
            return member
        smooth = self._refine(member.pose, LOSSES["tls"])
        return max(member, self._refine(smooth.pose, self.loss), key=lambda candidate: candidate.saving)

    def _refine(self, pose: Pose, loss: Loss) -> Member:
        reached = climb_from(survey(self.pairs, self.pairs.allow(pose), loss, BAND), self.pairs, loss, graduated=True)
        image = self.probes.images(reached.pose.row)
        return Member(reached.pose, reached.saving, reached.num_inliers, image)

    def _insert(self, new: Member) -> Member:
        same = self.near(np.array([member.image for member in self.members]).reshape(-1, 18), new)
        if same.any():
            first = int(same.argmax())
            member = self.members[first]
            if new.saving <= member.saving:
                return member
            self.members.pop(first)
        self.members.append(new)
        self.members.sort(key=lambda member: -member.saving)
        del self.members[SIZE:]
        return new
