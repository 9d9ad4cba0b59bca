"""Register point pairs of which nearly all are wrong.

    python examples/pairs.py                     a built-in problem
    python examples/pairs.py pairs.npz 0.05      your pairs and noise bound

The second form reads .npz (source, target), .npy (N×6) or .csv/.txt (six columns).
"""

from __future__ import annotations

import sys

import tear3d
from tear3d.io.pairs import read_pairs


def main(arguments: list[str]) -> None:
    if arguments:
        path, bound = arguments
        pairs = read_pairs(path)
        source, target, noise_bound = pairs.source, pairs.target, float(bound)
        truth = None
    else:
        problem = tear3d.synthetic.make_problem(5000, outlier_ratio=0.95, cloud="teapot", seed=1)
        source, target, noise_bound = problem.source, problem.target, problem.noise_bound
        truth = problem.transformation

    result = tear3d.register(source, target, noise_bound=noise_bound)
    print(result)
    for stage in result.certificate.stages:
        print(f"{stage.name}: saved {stage.saving:.4g}, nothing saves more than {stage.saving_bound:.4g}")
    if truth is not None:
        print(f"rotation error {tear3d.metrics.rotation_error(result.transformation, truth):.2f}°")
    if not result.success:
        sys.exit("no pose can be told from chance: check the matches and the noise bound")


if __name__ == "__main__":
    main(sys.argv[1:])
