"""Register pairs when the vertical is known, and how much faster the proof is.

python examples/gravity.py                        a built-in problem, 99 % of its pairs wrong
python examples/gravity.py pairs.npz 0.05 2       your pairs, noise bound, and degrees that z may be off
"""

from __future__ import annotations

import sys

import numpy as np

import tear3d
from tear3d.io.pairs import read_pairs

UP = (0.0, 0.0, 1.0)


def main(arguments: list[str]) -> None:
    tolerance = 0.0
    if arguments:
        pairs = read_pairs(arguments[0])
        source, target, noise_bound, tolerance = pairs.source, pairs.target, float(arguments[1]), float(arguments[2])
    else:
        c, s = np.cos(0.7), np.sin(0.7)
        about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        problem = tear3d.synthetic.make_problem(5000, outlier_ratio=0.99, rotation=about_z, seed=1)
        source, target, noise_bound = problem.source, problem.target, problem.noise_bound

    upright = tear3d.register(source, target, noise_bound=noise_bound, rotation_axis=UP, axis_tolerance=tolerance)
    print(upright)
    free = tear3d.register(source, target, noise_bound=noise_bound)
    print(f"cells of the proof: {upright.certificate.cells} with the axis, {free.certificate.cells} without")
    if not upright.success:
        sys.exit("no pose stands out: is the axis right? Try a larger tolerance")


if __name__ == "__main__":
    main(sys.argv[1:])
