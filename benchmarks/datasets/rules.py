"""When a pose counts as right, in numbers and in a sentence to print beside every recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measure import Limits
from benchmarks.real_pairs import OTHER_ROTATION, OTHER_TRANSLATION, FloatArray
from tear3d.metrics import LIMITS

OFFICIAL_RMSE = 0.2
"""Metres; the limit of the official 3DMatch benchmark (Choi, Zhou, Koltun, CVPR 2015)."""
OFFICIAL = "RMSE ≤ 0.2 m"
OFFICIAL_SENTENCE = (
    "right (rule of the official 3DMatch benchmark): RMSE of the true correspondences at most 0.2 m, from gt.info; "
    "consecutive fragments are not counted"
)


@dataclass(frozen=True)
class Rule:
    """Limits of the errors, and the noise bound that goes with them."""

    limits: Limits
    noise_bound: float
    remark: str = ""

    @property
    def short(self) -> str:
        return f"{self.limits.rotation:g}° and {_length(self.limits.translation)}"

    @property
    def sentence(self) -> str:
        start = f"right: rotation error at most {self.limits.rotation:g}° and translation error at most "
        return f"{start}{_length(self.limits.translation)}; ξ = {_length(self.noise_bound)}{self.remark}"


def _length(metres: float) -> str:
    return f"{100.0 * metres:g} cm"


_NOT_RMSE = "; this is not RMSE < 0.2 m, the rule of the official benchmark"
RULES = {
    "3DMatch": Rule(Limits(*LIMITS["3dmatch"]), 0.10, _NOT_RMSE),
    "3DLoMatch": Rule(Limits(*LIMITS["3dmatch"]), 0.10, _NOT_RMSE),
    "KITTI": Rule(Limits(*LIMITS["kitti"]), 0.60),
    "ETH": Rule(Limits(*LIMITS["eth"]), 0.30),
}
"""By title of the data set: limits and ξ of the paper."""
OTHER_SENTENCE = (
    f"right: rotation error at most {OTHER_ROTATION:g}° and translation error at most {OTHER_TRANSLATION:g}ξ; "
    "ξ from each file"
)
MIXED_SENTENCE = (
    f"right: errors of rotation and translation at most {', '.join(f'{r.short} ({t})' for t, r in RULES.items())}, "
    f"{OTHER_ROTATION:g}° and {OTHER_TRANSLATION:g}ξ (others); ξ from each file"
)


def official_rmse(pose: FloatArray, truth: FloatArray, info: FloatArray) -> float:
    """Root mean square distance of the true correspondences under a pose, from their information matrix.

    With e = (t, q), the translation and the vector part of the quaternion of truth⁻¹ · pose, it is √(eᵀ Λ e / Λ₁₁):
    Λ = Σ GᵀG over the points p of the source in the overlap, G = (I | −2[p]×). First order in the rotation.
    """
    if not np.isfinite(pose).all():
        return float("inf")
    between = np.linalg.inv(truth) @ pose
    vector = Rotation.from_matrix(between[:3, :3]).as_quat(canonical=True)[:3]
    error = np.concatenate([between[:3, 3], vector])
    return float(np.sqrt(max(error @ info @ error, 0.0) / info[0, 0]))
