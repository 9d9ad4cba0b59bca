"""A reconstruction without metres, placed in a survey by matches most of which are wrong.

    python examples/scale.py                    made-up pairs
    python examples/scale.py PAIRS.npz BOUND    your pairs (source, target), with a noise bound in the target's unit

Prints the scale and writes the similarity, target ← source, to `similarity.txt`.
"""

from __future__ import annotations

import sys

import tear3d
from tear3d.io.pairs import read_pairs
from tear3d.io.poses import write_pose


def main(arguments: list[str]) -> None:
    if arguments:
        pairs = read_pairs(arguments[0])
        source, target, bound = pairs.source, pairs.target, float(arguments[1])
    else:
        problem = tear3d.synthetic.make_problem(3000, 0.9, cloud="teapot", scale=3.7, noise=0.02, seed=0)
        source, target, bound = problem.source, problem.target, problem.noise_bound
    result = tear3d.register(source, target, noise_bound=bound, estimate_scale=True)
    print(result.message)
    if not result.success:
        sys.exit("no similarity stands out from chance")
    print(f"one unit of the source is {result.scale:.5g} ± {result.scale_std:.2g} of the target's")
    write_pose("similarity.txt", result.transformation)


if __name__ == "__main__":
    main(sys.argv[1:])
