"""3DMatch (Zeng et al., CVPR 2017): eight scenes of RGB-D fragments, pairs that overlap by more than 30 %."""

from __future__ import annotations

from pathlib import Path

from benchmarks.datasets import fragments
from benchmarks.datasets.fragments import Custom
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found

TITLE = "3DMatch"
EXPECTED = "SCENE/cloud_bin_0.ply, ... (or keypoints and descriptors), and gt.log in SCENE or in SCENE-evaluation"
VOXEL = 0.05
"""Metres, for own features: what PointDSC and its followers use for FPFH."""
LOGS = (
    "{scene}/gt.log",
    "{scene}/PointCloud/gt.log",
    "{above}/{name}-evaluation/gt.log",
    "{root}/gt_result/{name}-evaluation/gt.log",
    "{root}/gt_result/{name}/gt.log",
    "{root}/benchmarks/3DMatch/{name}/gt.log",
)
CUSTOM = Custom(TITLE, ("cloud_bin_",), LOGS, VOXEL, "all")
NOT_OURS = ("gazebo", "wood")
"""Scenes of ETH, which some evaluations pack in the same way."""


def recognise(folder: Path) -> bool:
    found = fragments.scenes(folder, CUSTOM)
    return any(scene.log(CUSTOM) and not scene.name.startswith(NOT_OURS) for scene in found)


def find(folder: Path, options: Options) -> list[Found]:
    return fragments.find(folder, CUSTOM, options)


def load(folder: Path, name: str, options: Options) -> DataPair:
    return fragments.load(folder, name, CUSTOM, options)
