"""What both networks are built of: 1×1 convolutions over pairs, and attention weighted by spatial consistency.

Features are (1, C, N): one problem, C channels, N pairs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def pointwise(inputs: int, outputs: int) -> nn.Conv1d:
    """The same linear map for every pair."""
    return nn.Conv1d(inputs, outputs, kernel_size=1)


def normalised(inputs: int, outputs: int) -> list[nn.Module]:
    """A linear map, batch normalisation and a ReLU."""
    return [pointwise(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]


def message_network(channels: int) -> nn.Sequential:
    """What a message goes through before it is added to the features."""
    half = channels // 2
    return nn.Sequential(*normalised(channels, half), *normalised(half, half), pointwise(half, channels))


def classifier(channels: int, hidden: int = 32) -> nn.Sequential:
    """Features → the logit of being an inlier."""
    return nn.Sequential(
        pointwise(channels, hidden), nn.ReLU(), pointwise(hidden, hidden), nn.ReLU(), pointwise(hidden, 1)
    )


def attention(queries: Tensor, keys: Tensor, consistency: Tensor) -> Tensor:
    """Rows of softmax(consistency · QᵀK / √C), for (C, M) queries and (C, N) keys: (M, N) (PointDSC, eq. 1).

    An inconsistent pair is not shut out: its exponent is 0.
    """
    scores = queries.T @ keys
    scores *= queries.shape[0] ** -0.5
    scores *= consistency
    return torch.softmax(scores, dim=-1)


def initialise(network: nn.Module) -> None:
    """Xavier's normal weights, which both releases start their training from."""
    for module in network.modules():
        if isinstance(module, nn.Conv1d):
            nn.init.xavier_normal_(module.weight)
