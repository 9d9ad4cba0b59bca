"""PointDSC on a checkpoint that the user gives; no weights are shipped.

The authors' repository has theirs: ``snapshot/PointDSC_3DMatch_release/models/model_best.pkl`` and, for outdoor lidar,
``snapshot/PointDSC_KITTI_release/models/model_best.pkl``. Set ``TEAR3D_POINTDSC`` to the path of one. The lengths that
belong to it are told from the σ_d that it holds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import FloatArray, Found
from benchmarks.peers.networks import checkpoint

if TYPE_CHECKING:
    from benchmarks.peers.networks.pointdsc import PointDSC
    from benchmarks.peers.networks.run import Lengths

NAME = "PointDSC"
PACKAGE = "torch"
PAPER = "X. Bai et al.: PointDSC: Robust Point Cloud Registration Using Deep Spatial Consistency. CVPR 2021"
SETTINGS = (
    "The config.json and test script of the authors' release: 12 layers, 128 channels, 10 power iterations, a tenth of "
    "the pairs as seeds, 40 neighbours, 20 refinements; for 3DMatch sigma_d, inlier threshold and NMS radius 0.1 m "
    "(KITTI: 1.2, 0.6 and 0.6 m, refined within 1.2 m). The problem is scaled so that its noise bound is 0.1 m (0.6 m)"
)
METRES = True
MEMORY = "quadratic"
CHECKPOINT = "TEAR3D_POINTDSC"
WHERE = "snapshot/PointDSC_3DMatch_release/models/model_best.pkl of https://github.com/XuyangBai/PointDSC"


def missing() -> str | None:
    return checkpoint.missing(CHECKPOINT, WHERE)


def prepare() -> None:
    _loaded(checkpoint.given(CHECKPOINT))


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    from benchmarks.peers.networks.run import solve

    network, lengths = _loaded(checkpoint.given(CHECKPOINT))
    return solve(network, source, target, noise_bound, lengths)


@cache
def _loaded(path: Path) -> tuple[PointDSC, Lengths]:
    from benchmarks.peers.networks.pointdsc import RELEASES, UNUSED, PointDSC
    from benchmarks.peers.networks.run import lengths_of

    network = PointDSC().eval()
    checkpoint.load(network, path, UNUSED)
    return network, lengths_of(network, RELEASES, path)
