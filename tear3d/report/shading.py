"""How far the source lies from the target under each pose that a page shows."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.features.tree import Tree
from tear3d.problem.arrays import FloatArray, spread_rows

COMPARED = 400_000
"""Points of the target at most, evenly in their order: a tree of them takes some tenths of a second (free choice)."""
BOUNDS = 3.0
"""The colours end at so many noise bounds, or at ..."""
MOST = 0.95
"""... this quantile where there is none."""
FARTHER = 1.01
"""What is beyond the colours, and no counterpart, is not measured: a little more than both (free choice)."""


class Lengths(NamedTuple):
    """What is near, where that is known."""

    noise_bound: float | None = None
    reach: float | None = None
    """A point of the target so near to one of the source is its counterpart."""
    reach_is: str = ""
    """In words."""


UNKNOWN = Lengths()


@dataclass(frozen=True)
class Shading:
    """Distances of points of the source to the nearest point of the target, by the name of the pose; infinite where the
    colours end and nothing is near."""

    distances: Mapping[str, FloatArray]
    end: float
    """What the last colour stands for."""
    lengths: Lengths = UNKNOWN
    compared: tuple[int, int] = (0, 0)
    """Points of the target that were compared, and all of them."""

    @classmethod
    def of(
        cls, source: FloatArray, target: FloatArray, poses: Mapping[str, FloatArray], lengths: Lengths = UNKNOWN
    ) -> Shading:
        """Without a noise bound the distances under the first of the poses set the scale."""
        some = target[spread_rows(len(target), COMPARED)]
        tree = Tree(some)
        moved = {name: source @ pose[:3, :3].T + pose[:3, 3] for name, pose in poses.items()}
        end = BOUNDS * (lengths.noise_bound or 0.0)
        if not end:
            end = float(np.quantile(tree.nearest(next(iter(moved.values())))[0], MOST)) or 1.0
        most = FARTHER * max(end, lengths.reach or 0.0)
        distances = {name: tree.nearest(points, most)[0] for name, points in moved.items()}
        return cls(distances, end, lengths, (len(some), len(target)))

    def beyond(self, pose: str) -> float:
        """The share of the points that are farther than the colours tell."""
        return float(np.mean(self.distances[pose] > self.end))

    def near(self, pose: str) -> NDArray[np.bool_] | None:
        """The points that have a counterpart; None where nothing says what is near."""
        return None if self.lengths.reach is None else np.asarray(self.distances[pose] <= self.lengths.reach)

    def overlap(self, pose: str) -> float:
        """Their share; NaN where nothing says what is near."""
        near = self.near(pose)
        return float("nan") if near is None else float(near.mean())

    def packed(self, pose: str) -> str:
        """Base64 of one byte for each point: 255 is the last colour."""
        return packed_shares(self.distances[pose] / self.end)

    def packed_near(self, pose: str) -> str | None:
        """Base64 of one bit for each point, the highest of a byte first."""
        near = self.near(pose)
        return None if near is None else _text(np.packbits(near))


def packed_shares(shares: FloatArray) -> str:
    """Base64 of one byte for each: 255 is 1, and more."""
    return _text(np.rint(255.0 * np.minimum(shares, 1.0)).astype(np.uint8))


def _text(values: NDArray[np.uint8]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
