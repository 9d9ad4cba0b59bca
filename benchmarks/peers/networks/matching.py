"""From features to a pose, the part without weights: seeds, spectral matching of subsets, weighted SVD, refinement.

Points are (N, 3) tensors; S subsets of k pairs each are an (S, k) tensor of indices.
"""

from __future__ import annotations

import torch
from torch import Tensor

EXACT = "donot_use_mm_for_euclid_dist"
"""Distances without the cancellation of |a|² + |b|² − 2ab."""
REFINEMENTS = 20
BLOCK = 1 << 22
"""Residuals that are worked on at once."""


def distances(points: Tensor) -> Tensor:
    """Of all points to each other, also for batches of sets."""
    return torch.cdist(points, points, compute_mode=EXACT)


def consistency(source: Tensor, target: Tensor, sigma: Tensor) -> Tensor:
    """max(0, 1 − d²/σ²) of the lengths' differences d (PointDSC, eq. 2)."""
    gaps = distances(source)
    gaps -= distances(target)
    gaps /= sigma
    return gaps.square_().neg_().add_(1.0).clamp_(min=0.0)


def similarity(features: Tensor, sigma: Tensor | float) -> Tensor:
    """max(0, 1 − (1 − cosine)/σ²) of (..., k, C) features of length 1 (PointDSC, eq. 4)."""
    cosines = features @ features.transpose(-1, -2)
    return (1.0 - (1.0 - cosines) / sigma**2).clamp_(min=0.0)


def seeds(confidence: Tensor, source: Tensor, radius: float, count: int) -> Tensor:
    """The most confident pairs, those that a neighbour beats put back to a logit of zero as in both releases."""
    beaten = distances(source) < radius
    beaten &= confidence[None, :] > confidence[:, None]
    ranking = torch.where(beaten.any(dim=1), torch.zeros_like(confidence), confidence)
    return ranking.argsort(descending=True, stable=True)[: max(count, 1)]


def leading_eigenvectors(matrices: Tensor, iterations: int) -> Tensor:
    """Of (S, k, k) matrices without negative entries, by the power method: (S, k)."""
    vectors = torch.ones_like(matrices[:, :, :1])
    for _ in range(iterations):
        before = vectors
        vectors = matrices @ vectors
        vectors = vectors / (vectors.norm(dim=1, keepdim=True) + 1e-6)
        if torch.allclose(vectors, before):
            break
    return vectors[:, :, 0]


def fits(source: Tensor, target: Tensor, weights: Tensor) -> Tensor:
    """Weighted least squares of (S, k, 3) sets with (S, k) weights: (S, 4, 4) poses."""
    weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-12)
    a, b = ((weights[:, :, None] * points).sum(dim=1) for points in (source, target))
    covariances = (target - b[:, None]).transpose(1, 2) @ (weights[:, :, None] * (source - a[:, None]))
    u, _, vt = torch.linalg.svd(covariances)
    u = torch.cat([u[:, :, :2], u[:, :, 2:] * torch.linalg.det(u @ vt).sign()[:, None, None]], dim=2)
    poses = torch.eye(4).repeat(len(source), 1, 1)
    poses[:, :3, :3] = u @ vt
    poses[:, :3, 3] = b - (poses[:, :3, :3] @ a[:, :, None])[:, :, 0]
    return poses


def residuals(poses: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Distances between targets and sources moved by each pose: (S, N)."""
    moved = source @ poses[:, :3, :3].transpose(1, 2) + poses[:, None, :3, 3]
    return (moved - target).norm(dim=2)


def best(poses: Tensor, source: Tensor, target: Tensor, limit: float, *, graded: bool) -> Tensor:
    """The pose with the most pairs within the limit; graded, a pair counts 1 − d²/limit²."""
    scores = []
    for block in poses.split(max(1, BLOCK // max(len(source), 1))):
        ratio = (residuals(block, source, target) / limit).square_()
        scores.append(((1.0 - ratio).clamp_(min=0.0) if graded else ratio < 1.0).sum(dim=1))
    return poses[torch.cat(scores).argmax()]


def refined(pose: Tensor, source: Tensor, target: Tensor, limit: float) -> Tensor:
    """Fits to the pairs within the limit, weighted by 1/(1 + d²/limit²), until their number stays."""
    before = 0
    for _ in range(REFINEMENTS):
        ratio = residuals(pose[None], source, target)[0] / limit
        inliers = ratio < 1.0
        if int(inliers.sum()) == before:
            break
        before = int(inliers.sum())
        weights = 1.0 / (1.0 + ratio[inliers].square())
        pose = fits(source[None, inliers], target[None, inliers], weights[None])[0]
    return pose
