"""A network on one problem: its units, its centre, its release, and what becomes of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.networks import matching
from benchmarks.peers.networks.checkpoint import CheckpointError


@dataclass(frozen=True)
class Lengths:
    """What a release measures in metres besides σ_d, which its checkpoint holds."""

    data: str
    sigma_d: float
    noise_bound: float
    """The threshold of the data it was made for: problems are scaled to it."""
    inlier: float
    nms: float
    refine: float


class Network(Protocol):
    """What `solve` asks of a network."""

    num_iterations: int
    sigma: Tensor
    sigma_spat: Tensor
    graded: bool
    """Whether hypotheses are scored by 1 − d²/τ² rather than counted."""

    def subsets(self, source: Tensor, target: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]: ...


def lengths_of(network: Network, releases: tuple[Lengths, ...], path: Path) -> Lengths:
    """The lengths that belong to a checkpoint's σ_d."""
    sigma_d = float(network.sigma_spat[0])
    for lengths in releases:
        if np.isclose(sigma_d, lengths.sigma_d, rtol=1e-3):
            return lengths
    known = ", ".join(f"{lengths.sigma_d} ({lengths.data})" for lengths in releases)
    raise CheckpointError(f"{path} was trained with sigma_d {sigma_d:.3g}: the lengths are known for {known}")


def solve(network: Network, source: FloatArray, target: FloatArray, noise_bound: float, lengths: Lengths) -> Found:
    """The pose of matched points. Both clouds are centred in double precision, which the networks do not notice."""
    if len(source) < 3:
        return Found(nowhere())
    scale = lengths.noise_bound / noise_bound
    centres = source.mean(axis=0), target.mean(axis=0)
    x, y = (
        torch.from_numpy((scale * (points - centre)).astype(np.float32))
        for points, centre in zip((source, target), centres, strict=True)
    )
    with torch.inference_mode():
        features, chosen = network.subsets(x, y, lengths)
        compatible = matching.similarity(features[chosen], network.sigma)
        compatible *= matching.consistency(x[chosen], y[chosen], network.sigma_spat)
        compatible.diagonal(dim1=1, dim2=2).zero_()
        weights = matching.leading_eigenvectors(compatible, network.num_iterations)
        poses = matching.fits(x[chosen], y[chosen], weights)
        hypothesis = matching.best(poses, x, y, lengths.inlier, graded=network.graded)
        inliers = (matching.residuals(hypothesis[None], x, y)[0] < lengths.inlier).numpy()
        pose = matching.refined(hypothesis, x, y, lengths.refine).double().numpy()
    notes = {"seeds": len(chosen)}
    if inliers.sum() < 3:
        return Found(nowhere(), None, notes)
    pose[:3, 3] = pose[:3, 3] / scale + centres[1] - pose[:3, :3] @ centres[0]
    return Found(pose, inliers, notes)
