"""One self-contained HTML page about a registration."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.io.cloud import Cloud
from tear3d.problem.arrays import FloatArray, as_points
from tear3d.problem.flat import drawn
from tear3d.report import boxes, charts, facts, judged, motions, noise, others, paints, repeating, sections, words
from tear3d.report.about import About
from tear3d.report.cells import SphereCells, cells_of
from tear3d.report.frame import VIEWER, framed
from tear3d.report.residuals import histogram, noise_bounds, residuals
from tear3d.report.scene import Poses, build_scene, pack
from tear3d.report.shading import Lengths
from tear3d.report.shown import RAMP
from tear3d.result import Result


def write_report(
    path: str | os.PathLike[str],
    result: Result,
    source: ArrayLike,
    target: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    title: str | None = None,
    source_cloud: ArrayLike | None = None,
    target_cloud: ArrayLike | None = None,
    refined: Any = None,
    noise_bound: ArrayLike | None = None,
    about: About | None = None,
) -> Path:
    """Write a page that shows the clouds, the pose and how it was proven; it opens offline.

    Parameters
    ----------
    path : path
        The HTML file; written completely or not at all.
    result : Result
        What `register` returned for these pairs.
    source, target : (N, 3) array
        The pairs.
    truth : (4, 4) array, optional
        The true pose; its distance from the found one is shown.
    title : str, optional
        Shown above the verdict; the file's name by default.
    source_cloud, target_cloud : (M, 3) array or Cloud, optional
        Full clouds to show in place of the pairs' points; a `Cloud` in its own colours, on request.
    refined : (4, 4) array or an object with `transformation`, optional
        A pose refined on the clouds, shown beside the found one.
    noise_bound : float or (N,) array, optional
        Marked in the histogram; taken from `result.settings` by default.
    about : tear3d.report.About, optional
        What the clouds say (`About(found)` for what `register_clouds` returned), and how to repeat the run.

    Returns
    -------
    Path
        The file written. Its size does not grow with the number of points.
    """
    path = Path(path)
    source, target = drawn(source, target)
    x, y = _points(source, "source"), _points(target, "target")
    pairs = len(result.inlier_mask)
    for name, points in (("source", x), ("target", y)):
        if len(points) != pairs:
            raise InputError(
                f"{name} has {len(points)} points but the result is about {pairs} pairs: pass the same pairs"
            )
    clouds = _cloud(source_cloud, "source_cloud"), _cloud(target_cloud, "target_cloud")
    poses = {"found": _pose(result.transformation, "result.transformation")}
    if refined is not None:
        poses["refined"] = _pose(getattr(refined, "transformation", refined), "refined")
    bounds = noise_bounds(result.settings.get("noise_bound") if noise_bound is None else noise_bound, pairs)
    page = _page(
        _Case(
            result,
            x,
            y,
            clouds,
            Poses(poses, [one.transformation for one in result.alternatives]),
            bounds,
            None if truth is None else _pose(truth, "truth"),
            title or path.stem,
            about or About(),
        )
    )
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return path


class _Case(NamedTuple):
    """What the page is about, checked."""

    result: Result
    source: FloatArray
    target: FloatArray
    clouds: tuple[Cloud | None, Cloud | None]
    poses: Poses
    bounds: float | FloatArray | None
    truth: FloatArray | None
    title: str
    about: About

    @property
    def bound(self) -> str:
        """In words."""
        if isinstance(self.bounds, float):
            return f"noise bound ξ\u00a0=\u00a0{words.number(self.bounds)}"
        return "root mean square residual" if self.bounds is None else "noise bound per pair"

    @property
    def lengths(self) -> Lengths:
        """What the view of the clouds takes for near: the voxel that their overlap was measured with, if it was."""
        bound = self.bounds if isinstance(self.bounds, float) else None
        if self.about.found is None:
            return Lengths(bound, bound, "the noise bound")
        known = self.about.found.evidence.voxel_size
        if known == known and known != self.about.found.voxel_size:
            return Lengths(bound, known, "the voxels in which the clouds were compared")
        return Lengths(bound, self.about.found.voxel_size, "the voxel size")


def _page(case: _Case) -> str:
    result, poses, about = case.result, dict(case.poses.own), case.about
    verdict = judged.verdict(result, about.found)
    distances = residuals(case.source, case.target, result.transformation)
    counts = histogram(distances, result.inlier_mask, case.bounds)
    moving = [(one.inlier_mask, one.transformation) for one in result.instances] if len(result.instances) > 1 else []
    scene = build_scene(
        case.source, case.target, result.inlier_mask, case.poses, case.clouds, parts=moving, lengths=case.lengths
    )
    search, spheres = _search(result)
    settings = {name: facts.plain(value) for name, value in result.settings.items()}
    versions = facts.versions()
    told = (result if about.found is None else about.found).to_dict()
    repeat = {"settings": settings, "versions": versions, "result": facts.plain(told | {"settings": None})}
    before, after = _captions(scene.drawn, case.clouds, len(case.source), poses)
    parts = {
        "tone": verdict.tone,
        "label": escape(verdict.label),
        "headline": escape(verdict.headline),
        "reasons": boxes.reasons(verdict.reasons),
        "sentence": escape(verdict.sentence),
        "message": boxes.note(judged.rest_of_message(result, verdict.sentence)),
        "tiles": boxes.tiles(result, case.bound, about, case.truth, case.poses.final),
        "choices": paints.choices(sections.pose_choice(poses), paints.buttons(scene)),
        "legends": paints.legends(scene, tuple(poses)),
        "before": escape(before),
        "after": escape(after),
        "clouds": boxes.clouds(about.found),
        "poses": sections.pose_section(poses, result, about.found),
        "motions": motions.section(result),
        "others": others.section(result, about.found, scene),
        "residual_chart": charts.residual_chart(counts),
        "residual_words": sections.residual_words(result, distances, counts),
        "noise": noise.section(result),
        "search": search,
        "timing": repeating.times(result, about),
        "again": repeating.again(result, about),
        "settings": sections.facts(settings or {"settings": "not recorded"}),
        "versions": sections.facts(versions),
        "inputs": repeating.inputs(case.source, case.target, about),
        "settings_json": escape(json.dumps(repeat, indent=2, ensure_ascii=False)),
    }
    scripts = (*VIEWER, "tints.js", "clouds.js", "sphere.js", "page.js")
    return framed("page", case.title, parts, scripts, {"scene": scene.drawn, "spheres": spheres, "ramp": RAMP})


def _search(result: Result) -> tuple[str, list[dict[str, Any]]]:
    """The stages as HTML, and the cells of the sphere that the page draws."""
    stages = result.certificate.stages
    shapes = [cells_of(stage, result.rotation) for stage in stages]
    spheres = [
        {
            "stage": k,
            "rows": pack(shape.rows),
            "found": None if shape.found is None else shape.found.tolist(),
            "towards": shape.towards.tolist(),
            "levels": list(shape.levels),
        }
        for k, shape in enumerate(shapes)
        if isinstance(shape, SphereCells)
    ]
    if not stages:
        return '<p class="note">No search was made: no bound is known.</p>', spheres
    parts = [sections.stage_section(stage, shapes[k], k) for k, stage in enumerate(stages)]
    return sections.stage_table(stages) + "".join(parts), spheres


def _captions(
    scene: dict[str, Any], clouds: tuple[Cloud | None, Cloud | None], pairs: int, poses: dict[str, FloatArray]
) -> tuple[str, str]:
    sizes = [pairs if cloud is None else len(cloud) for cloud in clouds]
    shown = [
        words.count(seen) + ("" if seen == size else f" of {words.count(size)}")
        for seen, size in zip(scene["shown"][:2], sizes, strict=True)
    ]
    before = f"{shown[0]} source and {shown[1]} target points, as they were given."
    if scene["movedTogether"] is not None:
        before += f" They lie {words.number(scene['movedTogether'])} apart and were drawn closer together."
    after = "The source moved by the pose found." if len(poses) == 1 else "The source moved by the chosen pose."
    lines = scene["shown"][2]
    if lines:
        after += f" Lines join {words.count(lines)} inlier pairs while points are coloured by cloud."
    return before, after


def _cloud(values: Any, name: str) -> Cloud | None:
    if values is None:
        return None
    return replace(values if isinstance(values, Cloud) else Cloud(values), points=_points(values, name))


def _points(values: Any, name: str) -> FloatArray:
    points = as_points(values, name)
    if len(points) == 0:
        raise InputError(f"{name} has no points: nothing to show")
    return points


def _pose(values: ArrayLike, name: str) -> FloatArray:
    pose = np.asarray(values, dtype=np.float64)
    if pose.shape != (4, 4) or not np.all(np.isfinite(pose)):
        raise InputError(f"{name} is not a finite 4×4 matrix: its shape is {pose.shape}")
    return pose
