"""Two parts of a surface and the pose between them."""

from functools import partial

import tear3d
from tests.bumpy import apply, bumpy_cloud, pose

TRUTH = pose([0.4, -1.2, 2.0], [3.0, 1.0, -2.0])


def halves():
    """Two overlapping parts of a surface, sampled independently."""
    source, target = bumpy_cloud(16_000, 0), bumpy_cloud(16_000, 1)
    return source[source[:, 0] > -0.4], apply(TRUTH, target[target[:, 0] < 0.4])


register_clouds = partial(tear3d.register_clouds, certify="rows")
"""With the proof that is quick for feature matches: these tests are about clouds."""
