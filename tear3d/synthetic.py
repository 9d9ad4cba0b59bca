"""Problems with a known answer."""

from tear3d.lab.scenes import Scene, make_scene
from tear3d.lab.synthetic import (
    NOISE_BOUND_FACTOR,
    OutlierKind,
    Problem,
    make_problem,
    random_rotation,
)

__all__ = [
    "NOISE_BOUND_FACTOR",
    "OutlierKind",
    "Problem",
    "Scene",
    "make_problem",
    "make_scene",
    "random_rotation",
]
