"""3DLoMatch (Huang et al., CVPR 2021): the fragments of 3DMatch, pairs that overlap by 10 to 30 %."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.datasets import fragments, threedmatch
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found

TITLE = "3DLoMatch"
EXPECTED = "the fragments of 3DMatch, and 3DLoMatch/SCENE/gt.log or benchmarks/3DLoMatch/SCENE/gt.log"
LOGS = (
    "{root}/3DLoMatch/{name}/gt.log",
    "{root}/../3DLoMatch/{name}/gt.log",
    "{root}/benchmarks/3DLoMatch/{name}/gt.log",
    "{root}/../benchmarks/3DLoMatch/{name}/gt.log",
    "{scene}/gtLo.log",
    "{scene}/PointCloud/gtLo.log",
)
CUSTOM = replace(threedmatch.CUSTOM, title=TITLE, logs=LOGS)


def recognise(folder: Path) -> bool:
    return any(scene.log(CUSTOM) for scene in fragments.scenes(folder, CUSTOM))


def find(folder: Path, options: Options) -> list[Found]:
    return fragments.find(folder, CUSTOM, options)


def load(folder: Path, name: str, options: Options) -> DataPair:
    return fragments.load(folder, name, CUSTOM, options)
