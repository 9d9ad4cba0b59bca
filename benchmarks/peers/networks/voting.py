"""VBReg's vote: every layer names the pairs that go best with a seed, the Wilson score says who was named often enough.

The release keeps two N×N matrices of each of its twelve layers until the seeds are known. Here the seeds' rows are
computed again from the layers' queries, keys and features: the same numbers, in an eighth of the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.peers.networks import layers

if TYPE_CHECKING:
    from benchmarks.peers.networks.vbreg import Layer

Z = 1.96
"""Of the 95 % interval."""


def opinions(passed: list[Layer], seeds: Tensor, consistency: Tensor) -> Iterator[Tensor]:
    """Two (S, N) matrices a layer, the last layer first: compatibility of features and lengths, then attention.

    `consistency` holds the rows of the seeds. The σ of the features is 1 here: the release takes it before training.
    """
    for layer in reversed(passed):
        features = functional.normalize(layer.features, dim=0)
        yield (features[:, seeds].T @ features).clamp_(min=0.0) * consistency
        yield layers.attention(layer.queries[:, seeds], layer.keys, consistency)


def wilson(share: Tensor, votes: int) -> Tensor:
    """The lower end of Wilson's interval of a probability, of which a share of so many votes was observed."""
    middle = share + Z**2 / (2 * votes)
    half_width = Z * (share * (1.0 - share) / votes + Z**2 / (4 * votes**2)).sqrt()
    return (middle - half_width) / (1.0 + Z**2 / votes)


def elected(matrices: Iterable[Tensor], seeds: Tensor, size: int) -> Tensor:
    """Each seed and the size − 1 pairs with the best score after any number of votes: (S, size)."""
    rows = torch.arange(len(seeds))
    counts = scores = None
    for votes, matrix in enumerate(matrices, start=1):
        matrix[rows, seeds] = -1.0
        named = matrix.topk(size - 1, dim=1).indices
        counts = torch.zeros_like(matrix) if counts is None else counts
        counts.scatter_add_(1, named, torch.ones_like(named, dtype=counts.dtype))
        score = wilson(counts / votes, votes)
        scores = score if scores is None else torch.maximum(scores, score)
    assert scores is not None
    scores[rows, seeds] = -1.0
    return torch.cat([seeds[:, None], scores.topk(size - 1, dim=1).indices], dim=1)
