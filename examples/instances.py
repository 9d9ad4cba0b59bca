"""Find all things that move on their own in one set of pairs.

python examples/instances.py                       a made-up scene with three objects
python examples/instances.py pairs.npz 0.05 4      your pairs, noise bound and number of motions at most
"""

from __future__ import annotations

import sys

import numpy as np

import tear3d
from tear3d.io.pairs import read_pairs


def main(arguments: list[str]) -> None:
    if arguments:
        path, bound, most = arguments
        pairs = read_pairs(path)
        source, target, noise_bound, k = pairs.source, pairs.target, float(bound), int(most)
    else:
        scene = tear3d.synthetic.make_scene(5000, shares=(0.10, 0.07, 0.04), sizes=0.3, seed=1)
        source, target, noise_bound, k = scene.source, scene.target, scene.noise_bound, 5

    result = tear3d.register(source, target, noise_bound=noise_bound, max_instances=k)
    if not result.instances:
        sys.exit("no motion can be told from chance: check the matches and the noise bound")
    print(result.message)
    for number, one in enumerate(result.instances, 1):
        angle = tear3d.metrics.rotation_error(one.transformation, np.eye(4))
        share = one.num_inliers / one.num_pairs
        print(f"motion {number}: {one.num_inliers} pairs ({100 * share:.1f} %), turned by {angle:.1f}°, {one.status}")
    print(f"{np.count_nonzero(result.labels == 0)} pairs belong to none")


if __name__ == "__main__":
    main(sys.argv[1:])
