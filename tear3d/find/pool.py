"""A few distinct poses, refined and ranked by the full objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import refine_pose
from tear3d.judge.chance import length_chance, log10_triples, significance
from tear3d.problem.losses import TLS, caps
from tear3d.problem.objective import saving_and_count

FloatArray = NDArray[np.float64]


@dataclass
class Member:
    """A refined pose of the pool, in the pool's coordinates."""

    rotation: FloatArray
    t: FloatArray
    saving: float
    count: int
    significance: float | None = None


class Pool:
    """Distinct local maxima of the full saving over the given pairs, best first.

    Two poses are the same when they move six points, one spread from the centre along each axis,
    by less than `same` noise bounds from each other.
    """

    def __init__(self, x, y, xi, w, loss: int, *, size: int = 16, same: float = 3.0) -> None:
        self.x, self.y, self.xi, self.w, self.loss = x, y, xi, w, loss
        self.size = size
        self.members: list[Member] = []
        self._refined: list[tuple[FloatArray, Member]] = []
        self.same_limit = same * float(np.median(xi))
        self.ceiling = float(np.sum(w * caps(loss, xi)))
        self._log10_tests = log10_triples(len(x), length_chance(x, y, xi))
        spread = np.sqrt(np.mean((x - x.mean(axis=0)) ** 2, axis=0))
        self._probes = x.mean(axis=0) + np.concatenate([np.diag(spread), -np.diag(spread)])

    @property
    def best(self) -> Member | None:
        return self.members[0] if self.members else None

    def significance(self, member: Member) -> float:
        """log10 NFA of a member over the pool's pairs."""
        if member.significance is None:
            member.significance = significance(
                self.x, self.y, member.rotation, member.t, self.xi, log10_tests=self._log10_tests
            )
        return member.significance

    def images(self, poses: FloatArray) -> FloatArray:
        """Where each pose (12 numbers: rotation, translation) puts the probe points."""
        rotations = poses[:, :9].reshape(-1, 3, 3)
        return np.einsum("mij,pj->mpi", rotations, self._probes) + poses[:, None, 9:]

    def near(self, images: FloatArray, member: Member) -> NDArray[np.bool_]:
        """Which of the imaged poses are the same as a member."""
        own = self._probes @ member.rotation.T + member.t
        return np.max(np.linalg.norm(images - own, axis=2), axis=1) < self.same_limit

    def offer(self, pose: FloatArray) -> Member:
        """Refine a pose unless one like it was; return the member it led to (kept or not)."""
        image = self.images(pose[None])
        for start, member in self._refined:
            if np.max(np.linalg.norm(image[0] - start, axis=1)) < self.same_limit:
                return member
        member = self._insert(self._refine(pose[:9].reshape(3, 3), pose[9:], self.loss))
        self._refined.append((image[0], member))
        return member

    def polish(self, member: Member) -> Member:
        """The best of the member and what two more ascents make of it, one by way of least squares."""
        smooth = self._refine(member.rotation, member.t, TLS)
        again = [self._refine(start.rotation, start.t, self.loss) for start in (smooth, member)]
        return max(member, *again, key=lambda candidate: candidate.saving)

    def _refine(self, rotation: FloatArray, t: FloatArray, loss: int) -> Member:
        pairs = (self.x, self.y)
        rotation, t, saving = refine_pose(*pairs, self.xi, self.w, rotation, t, loss)
        return Member(rotation, t, saving, saving_and_count(*pairs, rotation, t, self.xi, self.w, loss)[1])

    def _insert(self, new: Member) -> Member:
        image = self.images(np.concatenate([new.rotation.ravel(), new.t])[None])
        for index, member in enumerate(self.members):
            if self.near(image, member)[0]:
                if new.saving <= member.saving:
                    return member
                self.members.pop(index)
                break
        self.members.append(new)
        self.members.sort(key=lambda member: -member.saving)
        del self.members[self.size :]
        return new
