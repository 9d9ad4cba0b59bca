"""`tear3d register`: a file of pairs to a pose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tear3d.cli import options, problems
from tear3d.cli.outputs import Outputs
from tear3d.cli.session import Session, exit_on_errors, finish, solve


def register(
    context: typer.Context,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS",
            help="Pairs: .npz (source, target), .npy (N×6), .csv or .txt (6 columns); in the plane, N×2 or 4 columns.",
        ),
    ],
    noise_bound: problems.NoiseBound = None,
    loss: Annotated[
        options.Loss,
        typer.Option(help="tear: truncated absolute residuals; cm: consensus; tls: truncated squares."),
    ] = options.Loss.tear,
    bounds: Annotated[
        options.Bounds,
        typer.Option(
            help="Of rows (--certify rows). sharp: fast bounds; sweep: the paper's; paper: those on the paper's cells."
        ),
    ] = options.Bounds.sharp,
    method: Annotated[
        options.Method,
        typer.Option(help="paper: the paper's own method, as it is printed; slow, for comparison."),
    ] = options.Method.tear3d,
    time_limit: options.TimeLimit = None,
    node_limit: options.NodeLimit = None,
    rel_gap: options.RelGap = None,
    threads: options.Threads = None,
    seed: options.SearchSeed = 0,
    certify: options.Certify = None,
    full: options.Full = False,
    no_certify: options.NoCertify = False,
    max_bytes: options.MaxBytes = None,
    memory_limit: options.MemoryLimit = None,
    checkpoint: options.Checkpoint = None,
    rotation_axis: problems.RotationAxis = None,
    axis_tolerance: problems.AxisTolerance = 0.0,
    planar: problems.Planar = False,
    plane_tolerance: problems.PlaneTolerance = 0.0,
    initial: problems.Initial = None,
    within: problems.Within = None,
    scale: problems.Scale = False,
    scale_range: problems.ScaleRange = None,
    instances: problems.Instances = 1,
    out: options.Out = None,
    report: options.Report = None,
    pose: options.Pose = None,
    g2o: options.G2o = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find the pose that agrees best with the pairs, and prove that none does better.

    \b
    Examples:
      tear3d register pairs.npz
      tear3d register pairs.csv --noise-bound 0.05 --report report.html
      tear3d register pairs.npy -n 0.05 --time-limit 60 --json

    A .npz file may carry noise_bound, weights, and the truth to compare with: transformation and inlier_mask. A noise
    bound that neither it nor the command line gives is estimated from the pairs, and said.
    """
    outputs = Outputs(out, report, pose, g2o)
    with (
        exit_on_errors(context),
        Session(context, quiet=quiet, rel_gap=options.gap(rel_gap, certify, method)) as session,
    ):
        from tear3d.cli.truth import read_truth
        from tear3d.errors import InputError
        from tear3d.io.pairs import read_pairs

        proof = options.proof(certify, full, no_certify)
        outputs.check([pairs])
        if scale and g2o is not None:
            raise InputError("--g2o and --scale contradict each other: an edge of a pose graph has no scale")
        with session.step(f"read {pairs.name}"):
            problem = read_pairs(pairs, max_bytes=max_bytes)
            own_bound = noise_bound is None and problem.noise_bound is not None
            bound = problem.noise_bound if own_bound else problems.AUTO if noise_bound is None else noise_bound
            truth = read_truth(pairs, len(problem.source))
        with session.step("fingerprint"):
            inputs = outputs.describe([pairs])
        given: dict[str, Any] = {
            "noise_bound": bound,
            "weights": problem.weights,
            "loss": loss.value,
            "time_limit": options.seconds(time_limit),
            "node_limit": node_limit,
            "rel_gap": rel_gap,
            "threads": threads,
            "seed": seed,
            "certify": proof,
            "bounds": bounds.value,
            "method": method.value,
            "memory_limit": memory_limit,
            "checkpoint": checkpoint,
            **problems.prior(rotation_axis, axis_tolerance, (planar, plane_tolerance), (initial, within)),
            "estimate_scale": scale,
            "scale_range": scale_range,
            "max_instances": instances,
        }
        result = solve(session, problem.source, problem.target, **given)
        from tear3d.cli.again import registered_in_python
        from tear3d.cli.folder import Run

        run = Run(
            result,
            problem.source,
            problem.target,
            result.to_dict(),
            title=pairs.name,
            noise_bound=None if isinstance(bound, str) else bound,
            truth=None if truth is None else truth.transformation,
            python=registered_in_python(pairs, given, own_bound=own_bound),
        )
        finish(session, run, outputs, inputs, as_json=as_json, truth=truth)
