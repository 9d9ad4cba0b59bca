"""A made-up but plausible result, so that the report is tested without running a search."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tear3d.clouds import CloudResult
from tear3d.clouds.tries import Try
from tear3d.clouds.verdict import CloudEvidence
from tear3d.prove.pose.nodes import HIGH, LOW, describe, roots
from tear3d.result import Certificate, Result, StageCertificate
from tear3d.synthetic import Problem, make_problem


def torus(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 2 * np.pi, (2, n))
    ring = 0.35 + 0.12 * np.cos(b)
    return np.stack([ring * np.cos(a), ring * np.sin(a), 0.12 * np.sin(b)], axis=1) + 0.5


def cube_cells(row: np.ndarray, levels: int = 8, start: int = 2) -> np.ndarray:
    """Visited cells of a search that closes in on `row`, as StageCertificate.visited."""
    out = []

    def corner(face: int, sign: float, a: float, b: float) -> np.ndarray:
        v = np.empty(3)
        v[face], v[(face + 1) % 3], v[(face + 2) % 3] = sign, np.tan(a), np.tan(b)
        return v / np.linalg.norm(v)

    def visit(face: int, sign: float, a: float, b: float, level: int) -> None:
        half = np.pi / 4 / 2**level
        centre = corner(face, sign, a, b)
        corners = [corner(face, sign, a + i * half, b + j * half) for i in (-1, 1) for j in (-1, 1)]
        theta = max(np.arccos(min(1.0, centre @ c)) for c in corners)
        near = np.arccos(np.clip(centre @ row, -1, 1)) < (1.0 + 4.0 / (level + 1)) * theta
        fate = 1 if not near else 2 if level == levels else 0
        if level >= start:
            out.append([*centre, theta, level - start, fate])
        if level < start or fate == 0:
            for i in (-half / 2, half / 2):
                for j in (-half / 2, half / 2):
                    visit(face, sign, a + i, b + j, level + 1)

    for face in range(3):
        for sign in (-1.0, 1.0):
            visit(face, sign, 0.0, 0.0, 0)
    return np.array(out)


def circle_cells(u: np.ndarray, v: np.ndarray, angle: float, levels: int = 9) -> np.ndarray:
    out = []

    def visit(middle: float, half: float, level: int) -> None:
        off = abs((middle - angle + np.pi) % (2 * np.pi) - np.pi)
        fate = 1 if off > 1.8 * half else 2 if level == levels else 0
        out.append([*(u * np.cos(middle) + v * np.sin(middle)), half, level, fate])
        if fate == 0:
            visit(middle - half / 2, half / 2, level + 1)
            visit(middle + half / 2, half / 2, level + 1)

    for k in range(4):
        visit(np.pi / 4 + k * np.pi / 2, np.pi / 4, 0)
    return np.array(out)


def turn_cells(levels: int = 6) -> np.ndarray:
    """Recorded cells of a search for the pose that closes in on no turn at all: those searched, and some left open."""
    out, cells = [], roots(np.zeros(3), np.zeros(3), 1.0)
    for level in range(levels):
        far = describe(cells)[:, :3]
        near = np.linalg.norm(far, axis=1) < 3.0 / 2**level
        fate = np.where(near & (level == levels - 1), 2.0, 0.0)
        out.append(describe(cells, fate))
        halves = []
        for node in cells[near]:
            low, high = node[LOW : LOW + 3], node[HIGH : HIGH + 3]
            for corner in product((0, 1), repeat=3):
                part = node.copy()
                part[LOW : LOW + 3] = low + 0.5 * np.array(corner) * (high - low)
                part[HIGH : HIGH + 3] = part[LOW : LOW + 3] + 0.5 * (high - low)
                halves.append(part)
        cells = np.array(halves)
    return np.concatenate(out)


def history(saving: float, gap: float, until: float, rows: int = 200) -> np.ndarray:
    time = np.linspace(0.0, until, rows)
    bound = saving * (1.0 + gap + 7.0 * np.exp(-6.0 * time / until))
    bound[-1] = saving * (1.0 + gap)
    found = saving * np.clip(0.55 + 1.5 * np.floor(8 * time / until) / 8, 0, 1)
    return np.stack([time, found, bound], axis=1)


def make_result(problem: Problem, status: str = "optimal", gap: float = 0.00093, **changes: Any) -> Result:
    rotation = problem.transformation[:3, :3]
    closed = status == "optimal"
    mask = problem.inlier_mask
    saving = 0.7 * problem.noise_bound * max(1, np.count_nonzero(mask))
    total = problem.noise_bound * len(mask)
    stages = []
    for k, (name, until) in enumerate((("first row", 1.8), ("second row", 0.12))):
        visited = (
            cube_cells(rotation[0])
            if k == 0
            else circle_cells(np.cross(rotation[0], rotation[1]), rotation[1], np.pi / 2)
        )
        bound = saving * (1.0 + gap)
        stages.append(
            StageCertificate(
                name,
                total - saving,
                total - bound,
                saving,
                bound,
                cells=len(visited),
                closed=closed,
                ended_by="gap" if closed else status,
                history=history(saving, gap, until),
                visited=visited,
            )
        )
    fields: dict[str, Any] = {
        "transformation": problem.transformation,
        "inlier_mask": mask,
        "inlier_rmse": 0.0171,
        "objective": total - saving,
        "status": status,
        "message": "made up",
        "certificate": Certificate.of(*(() if status == "uncertified" else stages)),
        "significance": -312.4,
        "seconds": {"candidates": 0.21, "first row": 1.8, "second row": 0.12, "polish": 0.014},
        "settings": {"noise_bound": problem.noise_bound, "loss": "tear", "rel_gap": 1e-3, "seed": 0},
    }
    return Result(**(fields | changes))


def make_pose_case(n: int = 300, outliers: float = 0.5, elsewhere: float = 0.62, **changes: Any) -> Any:
    """As `make_case`, with the pose proven instead of its rows."""
    problem, result = make_case(n, outliers, **({"gap": 0.0098} | changes))
    first = result.certificate.stages[0]
    cells = turn_cells()
    stage = replace(first, name="pose", elsewhere=elsewhere * first.saving, visited=cells, cells=len(cells))
    return problem, replace(result, certificate=Certificate.of(stage), saving=first.saving)


def make_case(n: int = 4000, outliers: float = 0.9, cloud: Any = None, **changes: Any) -> tuple[Problem, Result]:
    problem = make_problem(n, outliers, cloud=torus(n) if cloud is None else cloud, seed=3)
    return problem, make_result(problem, **changes)


def make_found(problem: Problem, result: Result, **changes: Any) -> CloudResult:
    """What `register_clouds` would return if the problem were the matches of two clouds."""
    rows = np.arange(len(problem.source))
    evidence = CloudEvidence(0.61, 0.52, 0.9, 0.8, 0.5, 40.0, 0.004, float("nan"), 0.3, 0.4, 0.05)
    fields: dict[str, Any] = {
        "result": result,
        "transformation": problem.transformation,
        "refinement": None,
        "pairs": np.column_stack((rows, rows)),
        "source_points": problem.source,
        "target_points": problem.target,
        "voxel_size": 0.05,
        "noise_bound": 0.075,
        "seconds": {"downsample": 2.5, "register": 9.0},
        "evidence": evidence,
        "verdict": "confirmed",
        "reasons": ("the surfaces agree",),
        "tries": (
            Try(0.05, 1, None, 400, "doubtful", 0.12, 0.4, 1.5),
            Try(0.075, 3, "iss", 0, None, None, None, 0.5),
        ),
        "covariance": np.diag([1e-6, 1e-6, 4e-6, 1e-4, 1e-4, 9e-4]),
    }
    return CloudResult(**(fields | changes))
