"""VBReg's network: non-local attention whose queries, keys and values are drawn from learned distributions.

Each of the three has a recurrent belief; it gives the prior of a hidden state, from which a state is drawn. The
posterior, which sees the labels, only guides the training: its weights are in the checkpoint and here, but not used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.peers.networks import layers, matching, voting
from benchmarks.peers.networks.run import Lengths

IN_DIM, NUM_LAYERS, NUM_CHANNELS = 6, 12, 128
BELIEF, HIDDEN, STATE, LABEL = 256, 256, 128, 64
NOISE = 0.1
"""The least standard deviation of a state."""
RATIO, LEAST_SEEDS, K, NUM_ITERATIONS = 0.1, 1000, 40, 10
SEED = 0
RELEASES = (
    Lengths("3DMatch", sigma_d=0.1, noise_bound=0.1, inlier=0.1, nms=0.1, refine=0.1),
    Lengths("KITTI", sigma_d=1.2, noise_bound=0.6, inlier=1.2, nms=0.1, refine=1.2),
)
Draw = Callable[[Tensor], Tensor]
"""Standard normal numbers of the shape of a tensor."""


class Layer(NamedTuple):
    """What the vote needs of a layer: (C, N) queries, keys and features."""

    queries: Tensor
    keys: Tensor
    features: Tensor


class NonLocalBlock(nn.Module):
    """Features plus what attention collects from the others, by the three embeddings."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleDict({"message_mlp": layers.message_network(channels)})
        for part in "qkv":
            self.blocks[f"projection_{part}"] = nn.Sequential(layers.pointwise(channels, channels))

    def forward(self, features: Tensor, embeddings: list[Tensor], consistency: Tensor) -> tuple[Tensor, Layer]:
        queries, keys, values = (
            self.blocks[f"projection_{part}"](embedding) for part, embedding in zip("qkv", embeddings, strict=True)
        )
        message = values @ layers.attention(queries[0], keys[0], consistency).T
        features = features + self.blocks["message_mlp"](message)
        return features, Layer(queries[0], keys[0], features[0])


class VariationalNet(nn.Module):
    """Coordinates of pairs → features, and the layers on the way."""

    def __init__(self) -> None:
        super().__init__()
        c, point = NUM_CHANNELS, layers.pointwise
        self.blocks = nn.ModuleDict({"init_mlp": nn.Sequential(*layers.normalised(IN_DIM, c), point(c, c))})
        self.blocks["PointCN_layer_0"] = nn.Sequential(*layers.normalised(c, c))  # in the checkpoint, not used
        for i in range(NUM_LAYERS):
            self.blocks[f"NonLocal_layer_{i}"] = NonLocalBlock(c)
        for part in "QKV":
            self.blocks[f"rnn_{part}"] = nn.GRUCell(BELIEF, BELIEF)
            self.blocks[f"fc_embed_state_action_{part}"] = point(STATE + c, BELIEF)
            self.blocks[f"fc_embed_belief_prior_{part}"] = point(BELIEF, HIDDEN)
            self.blocks[f"fc_state_prior_{part}"] = point(HIDDEN, 2 * STATE)
            self.blocks[f"fc_embed_belief_posterior_{part}"] = point(BELIEF + LABEL, HIDDEN)
            self.blocks[f"fc_state_posterior_{part}"] = point(HIDDEN, 2 * STATE)
            self.blocks[f"fc_embed_belief_sto_{part}"] = point(BELIEF + STATE, c)
            self.blocks[f"fc_label_{part}"] = point(2, LABEL)

    def forward(self, coordinates: Tensor, consistency: Tensor, draw: Draw) -> tuple[Tensor, list[Layer]]:
        features = self.blocks["init_mlp"](coordinates)
        n = coordinates.shape[2]
        memory = {part: (torch.zeros(1, STATE, n), torch.zeros(1, BELIEF, n)) for part in "QKV"}
        passed = []
        for i in range(NUM_LAYERS):
            memory = {part: self._step(part, features, *memory[part], draw) for part in "QKV"}
            embeddings = [self._embedding(part, *memory[part]) for part in "QKV"]
            features, layer = self.blocks[f"NonLocal_layer_{i}"](features, embeddings, consistency)
            passed.append(layer)
        return features, passed

    def _step(self, part: str, features: Tensor, state: Tensor, belief: Tensor, draw: Draw) -> tuple[Tensor, Tensor]:
        """The next state, drawn from the prior, and the belief it comes from."""
        seen = self._active(f"fc_embed_state_action_{part}", torch.cat([state, features], dim=1))
        belief = self.blocks[f"rnn_{part}"](seen[0].T, belief[0].T).T[None]
        hidden = self._active(f"fc_embed_belief_prior_{part}", belief)
        mean, spread = self.blocks[f"fc_state_prior_{part}"](hidden).chunk(2, dim=1)
        return mean + (functional.softplus(spread) + NOISE) * draw(mean), belief

    def _embedding(self, part: str, state: Tensor, belief: Tensor) -> Tensor:
        return self._active(f"fc_embed_belief_sto_{part}", torch.cat([belief, state], dim=1))

    def _active(self, name: str, inputs: Tensor) -> Tensor:
        return functional.relu(self.blocks[name](inputs))


class VBReg(nn.Module):
    """The whole network with the sizes of the releases."""

    graded = True
    num_iterations = NUM_ITERATIONS

    def __init__(self, sigma_d: float = 0.1) -> None:
        super().__init__()
        self.sigma = nn.Parameter(torch.ones(1))
        self.sigma_spat = nn.Parameter(torch.full((1,), sigma_d), requires_grad=False)
        encoder, classifier = VariationalNet(), layers.classifier(NUM_CHANNELS)
        self.blocks = nn.ModuleDict({"corr_encoder": encoder, "corr_classifier": classifier})
        layers.initialise(self)

    def forward(
        self, source: Tensor, target: Tensor, consistency: Tensor, draw: Draw
    ) -> tuple[Tensor, Tensor, list[Layer]]:
        """Features of length 1, (N, C), logits, (N,), and the layers, of centred pairs."""
        features, passed = self.blocks["corr_encoder"](torch.cat([source, target], dim=1).T[None], consistency, draw)
        confidence = self.blocks["corr_classifier"](features)[0, 0]
        return functional.normalize(features[0].T, dim=1), confidence, passed

    def subsets(self, source: Tensor, target: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]:
        """Features, and every seed with the pairs that its layers vote for."""
        generator = torch.Generator().manual_seed(SEED)
        consistency = matching.consistency(source, target, self.sigma_spat)
        features, confidence, passed = self(
            source, target, consistency, lambda like: torch.randn(like.shape, generator=generator)
        )
        count = max(LEAST_SEEDS, int(RATIO * len(source)))
        seeds = matching.seeds(confidence, source, lengths.nms, count)
        opinions = voting.opinions(passed, seeds, consistency[seeds])
        return features, voting.elected(opinions, seeds, min(K, len(source)))
