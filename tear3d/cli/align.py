"""`tear3d align`: two clouds to a pose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import tear3d
from tear3d.cli import carried, options, problems
from tear3d.cli.outputs import Outputs
from tear3d.cli.session import Session, compile_when_cold, exit_on_errors, finish
from tear3d.problem.kernels import needed

_FEATURES = "Features"
_REFINE: dict[options.Refine, Literal["gicp", "icp", "plane"] | None] = {
    options.Refine.gicp: "gicp",
    options.Refine.icp: "icp",
    options.Refine.plane: "plane",
    options.Refine.none: None,
}


def align(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=f"The cloud to move: {carried.FORMATS}.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The cloud it is moved onto.")],
    voxel_size: Annotated[
        float | None,
        typer.Option(
            "--voxel-size",
            "-v",
            help="Size to which both clouds are thinned, in their units; chosen from the data for "
            "about ten thousand points each unless given.",
            show_default=False,
        ),
    ] = None,
    noise_bound: Annotated[
        float | None,
        typer.Option(
            "--noise-bound",
            "-n",
            help="How far matched points may be apart; 1.5 voxels unless given.",
            show_default=False,
        ),
    ] = None,
    refine: Annotated[options.Refine, typer.Option(help="How to refine the pose on the clouds.")] = options.Refine.gicp,
    keypoints: Annotated[
        options.Keypoints | None,
        typer.Option(help="Match only these points instead of all.", show_default=False, rich_help_panel=_FEATURES),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(
            help="Keep a match only if the second best is so much worse (0 to 1, 0.9 is customary).",
            show_default=False,
            rich_help_panel=_FEATURES,
        ),
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="Matches per point.", rich_help_panel=_FEATURES)] = 1,
    mutual: Annotated[
        bool,
        typer.Option("--mutual", help="Keep only matches in both directions.", rich_help_panel=_FEATURES),
    ] = False,
    time_limit: options.TimeLimit = None,
    rel_gap: options.RelGap = None,
    threads: options.Threads = None,
    seed: options.SearchSeed = 0,
    certify: options.Certify = None,
    full: options.Full = False,
    no_certify: options.NoCertify = False,
    max_bytes: options.MaxBytes = None,
    rotation_axis: problems.RotationAxis = None,
    axis_tolerance: problems.AxisTolerance = 0.0,
    planar: problems.Planar = False,
    plane_tolerance: problems.PlaneTolerance = 0.0,
    initial: problems.Initial = None,
    within: problems.Within = None,
    out: options.Out = None,
    report: options.Report = None,
    pose: options.Pose = None,
    g2o: options.G2o = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find the pose that moves one cloud onto another that overlaps it, without a start.

    \b
    Examples:
      tear3d align scan1.ply scan2.ply
      tear3d align scan1.pcd scan2.pcd --out aligned
      tear3d align a.laz b.laz --voxel-size 0.5 --report report.html

    The clouds are thinned, described (FPFH), matched, registered with a certificate, and refined.
    """
    outputs = Outputs(out, report, pose, g2o)
    with exit_on_errors(context), Session(context, quiet=quiet, rel_gap=options.gap(rel_gap, certify)) as session:
        proof = options.proof(certify, full, no_certify)
        outputs.check([source, target])
        read = tear3d.Cloud.read if outputs.recorded else tear3d.read_cloud  # with its colours where they are shown
        clouds: list[tear3d.Cloud] = []
        for path in (source, target):
            with session.step(f"read {path.name}"):
                clouds.append(tear3d.Cloud.of(read(path, max_bytes=max_bytes, keep_invalid=True)))
        with session.step("fingerprint"):
            inputs = outputs.describe([source, target])
        upright = rotation_axis is not None
        compile_when_cold(session, needed(proof, clouds=True, upright=upright, prior=upright or initial is not None))
        known = problems.prior(rotation_axis, axis_tolerance, (planar, plane_tolerance), (initial, within))
        given: dict[str, Any] = {
            "voxel_size": voxel_size,
            "noise_bound": noise_bound,
            "refine": _REFINE[refine],
            "keypoints": None if keypoints is None else "iss",
            "ratio": ratio,
            "top_k": top_k,
            "mutual": mutual,
            "time_limit": options.seconds(time_limit),
            "rel_gap": rel_gap,
            "threads": threads,
            "seed": seed,
            "certify": proof,
            **known,
        }
        found = tear3d.register_clouds(*(cloud.points for cloud in clouds), progress=session.bar, **given)
        from tear3d.cli.again import aligned_in_python
        from tear3d.cli.folder import Run
        from tear3d.io.reference import in_frame_of
        from tear3d.problem.arrays import finite_rows

        if any(found.dropped):
            clouds = [cloud.take(finite_rows(cloud.points)) for cloud in clouds]
        run = Run(
            found.result,
            found.source_matches,
            found.target_matches,
            found.to_dict(),
            title=f"{source.name} onto {target.name}",
            noise_bound=found.noise_bound,
            found=found,
            source_cloud=clouds[0],
            target_cloud=clouds[1],
            carried=None if outputs.folder is None else in_frame_of(*clouds),
            python=aligned_in_python(source, target, given) if outputs.recorded else "",
        )
        finish(session, run, outputs, inputs, as_json=as_json)
