"""VBReg on a checkpoint that the user gives; no weights are shipped.

The authors' repository has theirs: ``snapshot/VBReg_3DMatch_release/models/model_best.pkl`` and, for outdoor lidar,
``snapshot/VBReg_KITTI_release/models/model_best.pkl``. Set ``TEAR3D_VBREG`` to the path of one. The lengths that belong
to it are told from the σ_d that it holds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import FloatArray, Found
from benchmarks.peers.networks import checkpoint

if TYPE_CHECKING:
    from benchmarks.peers.networks.run import Lengths
    from benchmarks.peers.networks.vbreg import VBReg

NAME = "VBReg"
PACKAGE = "torch"
PAPER = "H. Jiang et al.: Robust Outlier Rejection for 3D Registration with Variational Bayes. CVPR 2023"
SETTINGS = (
    "The config.json and test script of the authors' release: 12 layers, 128 channels, states drawn from the prior "
    "(seeded), 10 power iterations, a tenth of the pairs but at least 1000 as seeds, subsets of 40, 20 refinements; "
    "for 3DMatch sigma_d, inlier threshold and NMS radius 0.1 m (KITTI: 1.2, 1.2 and 0.1 m). All pairs, where the "
    "script keeps the first 9500. The problem is scaled so that its noise bound is 0.1 m (0.6 m)"
)
METRES = True
MEMORY = "quadratic"
CHECKPOINT = "TEAR3D_VBREG"
WHERE = "snapshot/VBReg_3DMatch_release/models/model_best.pkl of https://github.com/Jiang-HB/VBReg"


def missing() -> str | None:
    return checkpoint.missing(CHECKPOINT, WHERE)


def prepare() -> None:
    _loaded(checkpoint.given(CHECKPOINT))


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    from benchmarks.peers.networks.run import solve

    network, lengths = _loaded(checkpoint.given(CHECKPOINT))
    return solve(network, source, target, noise_bound, lengths)


@cache
def _loaded(path: Path) -> tuple[VBReg, Lengths]:
    from benchmarks.peers.networks.run import lengths_of
    from benchmarks.peers.networks.vbreg import RELEASES, VBReg

    network = VBReg().eval()
    checkpoint.load(network, path)
    return network, lengths_of(network, RELEASES, path)
