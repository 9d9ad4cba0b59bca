"""A solver that knows the answer, and the command line run inside the test."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from tear3d.cli import app
from tear3d.clouds import CloudResult
from tear3d.clouds.verdict import CloudEvidence
from tear3d.problem.limits import Progress
from tear3d.refine import RefineResult
from tear3d.result import Certificate, Result, StageCertificate
from tests.bumpy import apply, pose

NOTHING_KNOWN = {
    "rotation_axis": None,
    "axis_tolerance": 0.0,
    "planar": False,
    "plane_tolerance": 0.0,
    "initial": None,
    "within": None,
}
FOUND = pose([0.4, -1.2, 2.0], [3.0, 1.0, -2.0])
REFINED = pose([0.401, -1.2, 2.0], [3.0, 1.001, -2.0])


class FakeSolver:
    """Stands in for `tear3d.register`: knows the answer, remembers how it was called."""

    def __init__(self, transformation=None, status="optimal"):
        self.transformation = np.eye(4) if transformation is None else transformation
        self.status = status
        self.elsewhere = None
        self.calls = []

    def __call__(self, source, target, *, noise_bound, progress=None, **options):
        self.calls.append({"source": source, "target": target, "noise_bound": noise_bound, **options})
        closed = self.status == "optimal"
        bound, end = (10.005, "gap") if closed else (13.0, "time_limit")
        stages = tuple(
            StageCertificate(name, 90.0, 100.0 - bound, 10.0, bound, 1234, closed, end, elsewhere=self.elsewhere)
            for name in (("row 1", "row 2") if self.elsewhere is None else ("pose",))
        )
        for stage in stages if progress is not None else ():
            progress(Progress(stage.name, stage.saving, float("inf"), 1, 0.1))
            progress(Progress(stage.name, stage.saving, stage.saving_bound, stage.cells, 0.2))
        pose = self.transformation
        residuals = np.linalg.norm(target - source @ pose[:3, :3].T - pose[:3, 3], axis=1)
        mask = residuals <= (0.1 if isinstance(noise_bound, str) else noise_bound)
        return Result(
            transformation=pose,
            inlier_mask=mask,
            inlier_rmse=float(np.sqrt(np.mean(residuals[mask] ** 2))) if mask.any() else float("nan"),
            objective=90.0,
            status=self.status,
            message="from the fake",
            certificate=Certificate.of(*(() if self.status == "uncertified" else stages)),
            significance=-87.3,
            seconds={"row 1": 0.61, "row 2": 0.004},
            settings={key: options.get(key, usual) for key, usual in (("certify", True), ("time_limit", "auto"))},
        )


class FakeAligner:
    """Stands in for `tear3d.register_clouds`: knows the answer, remembers how it was called."""

    def __init__(self):
        self.status = "optimal"
        self.refined = REFINED
        self.verdict = "confirmed"
        self.calls = []

    def __call__(self, source, target, *, refine, progress, **options):
        self.calls.append({"source": source, "target": target, "refine": refine, **options})
        rows = np.arange(50)
        result = FakeSolver(FOUND, self.status)(
            source[rows],
            apply(FOUND, source[rows]),
            noise_bound=0.1,
            progress=progress,
            certify=options["certify"],
            time_limit=options.get("time_limit", "auto"),
        )
        refinement = None
        if refine is not None and result.success:
            refinement = RefineResult(self.refined, 0.93, 0.012, 0.9, 0.02, True, 7, 0.3, 0.05)
        return CloudResult(
            result=result,
            transformation=FOUND if refinement is None else self.refined,
            refinement=refinement,
            pairs=np.column_stack((rows, rows)),
            source_points=source[:400],
            target_points=apply(FOUND, source[:400]),
            voxel_size=0.1,
            noise_bound=0.15,
            seconds={"downsample": 0.1, "register": 0.4},
            evidence=CloudEvidence(),
            verdict=self.verdict if result.success else "doubtful",
            reasons=("a reason",),
        )


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert code in (result.exit_code, None), result.output
    return result


def tear3d_command(*arguments):
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-c", "from tear3d.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
