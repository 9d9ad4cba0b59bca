"""All poses of all tries before the clouds: which one they bear out best."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tear3d.clouds.evidence import Scene
from tear3d.clouds.prepared import Prepared
from tear3d.clouds.tries import Matched, Poses, Recipe, Try
from tear3d.clouds.verdict import CloudEvidence, Judgement, judge
from tear3d.errors import StoppedError
from tear3d.features.steps import Steps
from tear3d.find.search import Candidate
from tear3d.judge.verdict import could_be_chance
from tear3d.problem.arrays import FloatArray
from tear3d.problem.prior import Prior
from tear3d.result import Result

PLAIN_FIT = 0.35
"""A confirmed pose of such a fit is taken without a look at the other candidates: twice what is asked for."""
_ORDER = {"confirmed": 0, "doubtful": 1, "rejected": 2}


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate and what the clouds say about it."""

    matched: Matched
    poses: Poses
    candidate: Candidate
    rank: int
    """Among the candidates of its try."""
    outdone: bool
    """Another pose of the same matches saves more: this one cannot be proven to save the most."""
    evidence: CloudEvidence
    judgement: Judgement
    answer: Result | None = None
    """The result for it, not proven, where it was asked for."""

    rivals: tuple[FloatArray, ...] = ()
    """The poses of this try that the clouds confirm, with its own."""

    @property
    def confirmed(self) -> bool:
        return self.judgement.verdict == "confirmed"

    @property
    def beyond_doubt(self) -> bool:
        """No other pose of the try need be looked at."""
        return self.confirmed and self.evidence.fit >= PLAIN_FIT

    @property
    def order(self) -> tuple[int, float]:
        """Smaller is better."""
        fit = self.evidence.fit
        return _ORDER[self.judgement.verdict], 0.0 if math.isnan(fit) else -fit


@dataclass
class Jury:
    """Compares poses on the clouds as thinned for the first try, so that the poses of all tries are measured alike."""

    steps: Steps
    threads: int | None
    target: Prepared
    prior: Prior | None = None
    scene: Scene | None = None
    best: Judged | None = None
    tries: list[Try] = field(default_factory=list)

    @property
    def confirmed(self) -> bool:
        return self.best is not None and self.best.confirmed

    @property
    def hopeless(self) -> bool:
        return self.best is not None and self.best.judgement.verdict == "rejected"

    def hear(self, matched: Matched, poses: Poses, began: float) -> None:
        """Judge the candidates of a try, in their order, until the limits are over.

        Once one is beyond doubt, only those whose matches could not be chance either: a part that nearly is its own
        image after half a turn has two such poses, and the better one must win.
        """
        found = poses.candidates
        top = max(candidate.saving for candidate in found)
        heard: list[Judged] = []
        with suppress(StoppedError), self.steps("judge") as tick:
            plain = False
            for rank, candidate in enumerate(found):
                tick(rank / len(found))
                if plain and could_be_chance(candidate.significance):
                    continue
                if self.scene is None:
                    size, wide = matched.recipe.voxel_size, matched.recipe.wide
                    clouds, keep = (matched.source, matched.target), self.target.sides(size)
                    self.scene = replace(Scene.of(*clouds, size, self.threads, tick, wide, keep), prior=self.prior)
                known = self.measure(candidate.pose.matrix, matched.recipe)
                judgement = judge(known, candidate.significance)
                heard.append(Judged(matched, poses, candidate, rank, candidate.saving < top, known, judgement))
                plain = plain or heard[-1].beyond_doubt
        if not heard:
            unknown = CloudEvidence()
            heard.append(Judged(matched, poses, found[0], 0, found[0].saving < top, unknown, judge(unknown, math.inf)))
        own = min(heard, key=lambda judged: judged.order)
        own = replace(own, rivals=tuple(other.candidate.pose.matrix for other in heard if other.confirmed))
        if self.best is None or own.order < self.best.order:
            self.best = own
        self._note(matched.recipe, len(matched.rows), own, began)

    def measure(self, pose: FloatArray, recipe: Recipe) -> CloudEvidence:
        """Of a pose after a few steps of alignment."""
        assert self.scene is not None
        return self.scene.measure(self.scene.settle(pose), pose, recipe.noise_bound)

    def judge_again(self, answer: Result) -> None:
        """The best pose, now that its matches have been compared with all others."""
        assert self.best is not None
        again = judge(self.best.evidence, answer.significance)
        self.best = replace(self.best, judgement=again, answer=answer)
        self.tries[-1] = replace(self.tries[-1], verdict=again.verdict)

    def failed(self, recipe: Recipe, began: float) -> None:
        """A try without matches."""
        self._note(recipe, 0, None, began)

    def _note(self, recipe: Recipe, count: int, own: Judged | None, began: float) -> None:
        known = own is not None and not math.isnan(own.evidence.fit)
        self.tries.append(
            Try(
                voxel_size=recipe.voxel_size,
                top_k=recipe.top_k,
                keypoints=recipe.keypoints,
                num_matches=count,
                verdict=None if own is None else own.judgement.verdict,
                fit=own.evidence.fit if own is not None and known else None,
                overlap=own.evidence.overlap if own is not None and known else None,
                seconds=time.perf_counter() - began,
            )
        )
