"""PointDSC's network: twelve layers of spatially consistent non-local attention, and a classifier of pairs."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.peers.networks import layers, matching
from benchmarks.peers.networks.run import Lengths

IN_DIM, NUM_LAYERS, NUM_CHANNELS = 6, 12, 128
RATIO, K, NUM_ITERATIONS = 0.1, 40, 10
"""Seeds per pair, pairs of a seed's subset, and rounds of the power method."""
RELEASES = (
    Lengths("3DMatch", sigma_d=0.1, noise_bound=0.1, inlier=0.1, nms=0.1, refine=0.1),
    Lengths("KITTI", sigma_d=1.2, noise_bound=0.6, inlier=0.6, nms=0.6, refine=1.2),
)
UNUSED = frozenset({"gamma"})
"""In the released file, of no effect in the released network."""


class NonLocalBlock(nn.Module):
    """Features plus what attention collects from the others (section 3.2)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc_message = layers.message_network(channels)
        self.projection_q = layers.pointwise(channels, channels)
        self.projection_k = layers.pointwise(channels, channels)
        self.projection_v = layers.pointwise(channels, channels)

    def forward(self, features: Tensor, consistency: Tensor) -> Tensor:
        weights = layers.attention(self.projection_q(features)[0], self.projection_k(features)[0], consistency)
        message = self.projection_v(features) @ weights.T
        return features + self.fc_message(message)


class NonLocalNet(nn.Module):
    """Coordinates of pairs → features."""

    def __init__(self, inputs: int, depth: int, channels: int) -> None:
        super().__init__()
        self.depth = depth
        self.layer0 = layers.pointwise(inputs, channels)
        self.blocks = nn.ModuleDict()
        for i in range(depth):
            self.blocks[f"PointCN_layer_{i}"] = nn.Sequential(*layers.normalised(channels, channels))
            self.blocks[f"NonLocal_layer_{i}"] = NonLocalBlock(channels)

    def forward(self, coordinates: Tensor, consistency: Tensor) -> Tensor:
        features = self.layer0(coordinates)
        for i in range(self.depth):
            features = self.blocks[f"PointCN_layer_{i}"](features)
            features = self.blocks[f"NonLocal_layer_{i}"](features, consistency)
        return features


class PointDSC(nn.Module):
    """The whole network with the sizes of the releases."""

    graded = False
    num_iterations = NUM_ITERATIONS

    def __init__(self, sigma_d: float = 0.1) -> None:
        super().__init__()
        self.sigma = nn.Parameter(torch.ones(1))
        self.sigma_spat = nn.Parameter(torch.full((1,), sigma_d), requires_grad=False)
        self.encoder = NonLocalNet(IN_DIM, NUM_LAYERS, NUM_CHANNELS)
        self.classification = layers.classifier(NUM_CHANNELS)
        layers.initialise(self)

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Features of length 1, (N, C), and logits, (N,), of centred pairs."""
        coordinates = torch.cat([source, target], dim=1).T[None]
        features = self.encoder(coordinates, matching.consistency(source, target, self.sigma_spat))
        return functional.normalize(features[0].T, dim=1), self.classification(features)[0, 0]

    def subsets(self, source: Tensor, target: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]:
        """Features, and the pairs nearest in feature space to every seed (section 3.3)."""
        features, confidence = self(source, target)
        seeds = matching.seeds(confidence, source, lengths.nms, int(RATIO * len(source)))
        cosines = features[seeds] @ features.T
        cosines[torch.arange(len(seeds)), seeds] = -torch.inf
        return features, cosines.topk(min(K, len(source) - 1), dim=1).indices
