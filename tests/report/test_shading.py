"""Distances and overlap in colours are those between the clouds, whatever the pose."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import tear3d
from tear3d.report import paints, shading, write_report
from tear3d.report.scene import Poses, Scene, build_scene, other_name
from tear3d.report.shading import Lengths, Shading
from tests.report.case import make_case


def decoded(text):
    return np.frombuffer(base64.b64decode(text), np.uint8)


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(203, 3)), rng.normal(size=(300, 3))
    moved = np.eye(4)
    moved[:3, 3] = 0.2, 0.0, -0.1
    exact = {
        name: np.min(np.linalg.norm((source + shift)[:, None] - target, axis=2), axis=1)
        for name, shift in (("found", np.zeros(3)), ("other 1", moved[:3, 3]))
    }
    return source, target, {"found": np.eye(4), "other 1": moved}, exact


def test_distances_are_those_to_the_nearest_point_under_each_pose(measured):
    source, target, poses, exact = measured
    made = Shading.of(source, target, poses, Lengths(0.1, 0.25, "a reach"))
    assert made.end == pytest.approx(0.3)
    for name in poses:
        np.testing.assert_allclose(made.distances[name], np.where(exact[name] < 0.303, exact[name], np.inf))
        assert made.beyond(name) == np.mean(exact[name] > 0.3) > 0.0
        assert made.overlap(name) == np.mean(exact[name] <= 0.25)
        np.testing.assert_array_equal(decoded(made.packed(name)), np.rint(255 * np.minimum(exact[name] / 0.3, 1.0)))
        bits = np.unpackbits(decoded(made.packed_near(name)))[: len(source)]
        np.testing.assert_array_equal(bits, exact[name] <= 0.25)
    assert made.overlap("found") != made.overlap("other 1")


def test_without_a_noise_bound_the_first_pose_sets_the_scale(measured):
    source, target, poses, exact = measured
    made = Shading.of(source, target, poses)
    assert made.end == pytest.approx(np.quantile(exact["found"], 0.95))
    assert made.near("found") is None
    assert made.packed_near("found") is None
    assert np.isnan(made.overlap("found"))


def test_a_large_target_is_thinned_and_the_legend_says_so(measured, monkeypatch):
    source, target, poses, _ = measured
    scene = Scene({}, Shading.of(source, target, poses, Lengths(0.1, 0.25, "a reach")))
    assert "of its" not in paints.legends(scene, ("found",))
    monkeypatch.setattr(shading, "COMPARED", 100)
    thinned = Shading.of(source, target, poses, Lengths(0.1, 0.25, "a reach"))
    assert thinned.compared == (100, 300)
    assert paints.legends(Scene({}, thinned), ("found",)).count("(of 100 of its 300 points)") == 2


def test_the_legends_are_about_each_pose(measured):
    source, target, poses, exact = measured
    same = Shading.of(target, target, {"found": np.eye(4)}, Lengths(0.1, 0.25, "a reach"))
    text = paints.legends(Scene({}, same), ("found",))
    assert "0.3 from the target" in text
    assert "farther" not in text
    assert "100\u202f% of the source points shown have a point of the target within 0.25, a reach" in text
    assert "0\u202f% have none" in text
    both = paints.legends(Scene({}, Shading.of(source, target, poses, Lengths(0.1, 0.25))), tuple(poses))
    for name in poses:
        assert f"{100 * np.mean(exact[name] <= 0.25):.3g}\u202f% of the source points shown" in both
        assert f'data-of="{name}"' in both


def test_alternatives_have_their_own_shading_and_frame():
    problem, result = make_case(600, 0.5)
    cloud, there = tear3d.Cloud(problem.source), tear3d.Cloud(problem.target)
    away = problem.transformation.copy()
    away[:3, 3] += 5.0
    poses = Poses({"found": problem.transformation}, [away])
    made = build_scene(
        problem.source, problem.target, result.inlier_mask, poses, (cloud, there), lengths=Lengths(0.05, 0.05)
    )
    assert set(made.shading.distances) == {"found", other_name(0)}
    assert made.shading.overlap("found") > 0.4 > made.shading.overlap(other_name(0))
    (other,) = made.drawn["others"]
    assert np.unpackbits(decoded(other["near"])).sum() == made.shading.near(other_name(0)).sum()
    assert other["frame"][3] > 1.5 * made.drawn["frames"][1][3], "both are in sight"


def test_only_clouds_have_them(tmp_path):
    problem, result = make_case(300, 0.5)
    clouds = {"source_cloud": problem.source, "target_cloud": problem.target}
    plain = write_report(tmp_path / "a.html", result, problem.source, problem.target).read_text("utf-8")
    shown = write_report(tmp_path / "b.html", result, problem.source, problem.target, **clouds).read_text("utf-8")
    assert "<button data-paint" not in plain
    for paint in ("plain", "overlap", "distances"):
        assert f'<button data-paint="{paint}"' in shown
    assert 'data-paint="tint-0"' not in shown


def test_what_is_near_is_the_voxel_of_the_comparison_or_the_noise_bound(tmp_path):
    problem, result = make_case(300, 0.5)
    bound = problem.noise_bound
    clouds = {"source_cloud": problem.source, "target_cloud": problem.target}
    page = write_report(tmp_path / "a.html", result, problem.source, problem.target, **clouds).read_text("utf-8")
    assert f"within {bound:.3g}, the noise bound" in page
    each = {"noise_bound": np.linspace(bound, 2.0 * bound, 300)}
    page = write_report(tmp_path / "b.html", result, problem.source, problem.target, **clouds, **each)
    assert 'data-paint="overlap"' not in page.read_text("utf-8"), "bounds per pair say nothing about other points"
