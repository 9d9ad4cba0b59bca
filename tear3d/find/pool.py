"""A few distinct poses, refined and ranked by the full objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import climb
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES, Loss
from tear3d.problem.objective import saving_and_count
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
    significance: float | None = None


class Probes:
    """Six points of a cloud, by whose images poses are told apart."""

    def __init__(self, pairs: Pairs) -> None:
        x = pairs.x
        spread = np.sqrt(np.mean((x - x.mean(axis=0)) ** 2, axis=0))
        self.points = x.mean(axis=0) + np.concatenate([np.diag(spread), -np.diag(spread)])
        self.limit = SAME * pairs.typical_bound

    def near(self, pose: Pose, others: Iterable[Pose]) -> bool:
        """Whether a pose is the same as one of some others."""
        own = pose.apply(self.points)
        return any(self.same(other.apply(self.points)[None], own)[0] for other in others)

    def same(self, images: FloatArray, own: FloatArray) -> NDArray[np.bool_]:
        """Which images are nearly `own`."""
        return np.asarray(np.max(np.linalg.norm(images - own, axis=2), axis=1) < self.limit)


class Pool:
    """Distinct local maxima of the full saving over the given pairs, best first."""

    def __init__(self, pairs: Pairs, loss: Loss, judge: Judge, limits: Limits) -> None:
        self.pairs, self.loss, self.limits = pairs, loss, limits
        self.members: list[Member] = []
        self._judge = judge
        self._refined: list[tuple[FloatArray, Member]] = []
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

    def images(self, poses: FloatArray) -> FloatArray:
        """Where each pose (a row of 12 numbers) puts the probe points."""
        rotations = poses[:, :9].reshape(-1, 3, 3)
        return np.asarray(np.einsum("mij,pj->mpi", rotations, self.probes.points) + poses[:, None, 9:])

    def near(self, images: FloatArray, member: Member) -> NDArray[np.bool_]:
        """Which of the imaged poses are the same as a member."""
        return self.same(images, member.pose.apply(self.probes.points))

    def same(self, images: FloatArray, own: FloatArray) -> NDArray[np.bool_]:
        """Which images are nearly `own`."""
        return self.probes.same(images, own)

    def offer(self, pose: FloatArray) -> Member:
        """Refine a pose (12 numbers) unless one like it was; return the member it led to (kept or not)."""
        image = self.images(pose[None])
        for start, member in self._refined:
            if self.same(image, start)[0]:
                return member
        member = self._insert(self._refine(Pose.from_row(pose), self.loss))
        self._refined.append((image[0], member))
        return member

    def polish(self, member: Member) -> Member:
        """The best of the member and what two more ascents make of it, one by way of least squares."""
        if self.limits.over():
            return member
        smooth = self._refine(member.pose, LOSSES["tls"])
        again = [self._refine(start.pose, self.loss) for start in (smooth, member)]
        return max(member, *again, key=lambda candidate: candidate.saving)

    def _refine(self, pose: Pose, loss: Loss) -> Member:
        pose, saving = climb(self.pairs, pose, loss)
        return Member(pose, saving, saving_and_count(self.pairs, pose, loss)[1])

    def _insert(self, new: Member) -> Member:
        image = self.images(new.pose.row[None])
        for index, member in enumerate(self.members):
            if self.near(image, member)[0]:
                if new.saving <= member.saving:
                    return member
                self.members.pop(index)
                break
        self.members.append(new)
        self.members.sort(key=lambda member: -member.saving)
        del self.members[SIZE:]
        return new
