"""What layouts hand over: names with their files, and matched points that know their data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets.rules import OFFICIAL, OFFICIAL_RMSE, OFFICIAL_SENTENCE, OTHER_SENTENCE, RULES, official_rmse
from benchmarks.measure import Limits
from benchmarks.real_pairs import FloatArray, RealPair
from tear3d.errors import InputError

FEWEST = 3


@dataclass(frozen=True)
class Found:
    """A pair of a folder, not loaded."""

    name: str
    files: tuple[Path, ...]
    group: str = ""
    """Scene or sequence."""


@dataclass(frozen=True)
class DataPair(RealPair):
    """A `RealPair` of a named data set."""

    title: str = "other"
    info: FloatArray | None = None
    """The 6×6 matrix of gt.info, where the official rule of 3DMatch counts this pair."""

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target) or self.source.shape[1:] != (3,) or self.target.shape[1:] != (3,):
            raise InputError(f"{self.name}: points of shapes {self.source.shape} and {self.target.shape}: not matched")
        if len(self.source) < FEWEST:
            raise InputError(f"{self.name}: {len(self.source)} matched points; a pose needs at least {FEWEST}")

    @property
    def dataset(self) -> str:
        return self.title

    @property
    def limits(self) -> Limits:
        return RULES[self.title].limits if self.title in RULES else super().limits

    @property
    def rules(self) -> dict[str, str]:
        """Short names of the rules that can be judged here → the sentence that states each."""
        if self.title not in RULES:
            return {"5° and 3ξ": OTHER_SENTENCE}
        own = {RULES[self.title].short: RULES[self.title].sentence}
        return own | ({OFFICIAL: OFFICIAL_SENTENCE} if self.info is not None else {})

    def verdicts(self, pose: FloatArray) -> dict[str, bool]:
        """Whether a pose is right by each of the rules, by their short names; the first is the paper's."""
        found = dict.fromkeys(self.rules, self.right(pose))
        if self.info is not None:
            found[OFFICIAL] = official_rmse(pose, self.truth, self.info) <= OFFICIAL_RMSE
        return found
