"""How pairs are made of what a folder holds: which descriptors, which matches, which truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tear3d.errors import InputError

KEYPOINTS = ("iss", "all")
TEST_SEQUENCES = ("08", "09", "10")
"""KITTI's sequences on which registration is tested (3DFeat-Net, FCGF, PointDSC)."""


@dataclass(frozen=True)
class Options:
    """Everything that changes the pairs of a folder; the defaults are the paper's where it says."""

    descriptors: str | None = None
    """Part of the names of the descriptor files to use; "own": FPFH from the clouds even where there are some."""
    mutual: bool = False
    """Keep only matches that are nearest both ways; the paper's tables use one-way matches."""
    most: int | None = None
    """At most so many described points of a cloud, sampled with a fixed seed (the paper: 5000 on 3DMatch and KITTI)."""
    voxel: float | None = None
    """For own features, metres; by default the data set's custom."""
    keypoints: str | None = None
    """For own features, "iss" or "all"; by default the data set's custom."""
    sequences: tuple[str, ...] = TEST_SEQUENCES
    """Of KITTI."""
    refine: bool = False
    """KITTI: refine the poses by ICP, as FCGF does."""

    def __post_init__(self) -> None:
        if self.keypoints not in (None, *KEYPOINTS):
            raise InputError(f"keypoints is {self.keypoints!r}: expected {' or '.join(KEYPOINTS)}")
        if self.most is not None and self.most < 3:
            raise InputError(f"most is {self.most}: expected at least 3 points, or None")
        if self.voxel is not None and not self.voxel > 0.0:
            raise InputError(f"voxel is {self.voxel}: expected a positive length, or None")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"sequences": list(self.sequences)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Options:
        return cls(**values | {"sequences": tuple(values.get("sequences", TEST_SEQUENCES))})
