"""The report's numbers: words, thinning, residuals, cells, scene."""

import base64
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.report import charts, judged, words
from tear3d.report.axes import Scale
from tear3d.report.cells import OPEN, Arcs, SphereCells, cells_of, snap_to_cube
from tear3d.report.residuals import histogram, noise_bounds, residuals
from tear3d.report.sampling import choose, thin
from tear3d.report.scene import Poses, build_scene
from tear3d.result import Certificate
from tests.report.case import cube_cells, make_case, make_pose_case, torus


@given(st.floats(1e-9, 10.0))
def test_a_gap_in_percent_is_never_rounded_below_the_gap(gap):
    shown = words.percent(gap).removesuffix("\u202f%").replace("\u202f", "")
    assert 100 * gap * (1 - 1e-8) <= float(shown) <= 100 * gap * 1.11 + 1e-4  # four decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (words.percent(0.0), "0\u202f%"),
        (words.percent(float("inf")), "∞"),
        (words.share(1, 10**7), "1e-05\u202f%"),
        (words.share(9999, 10000), "99.9\u202f%"),
        (words.share(0, 10), "0\u202f%"),
        (words.count(1234567), "1\u202f234\u202f567"),
        (words.number(float("nan")), "–"),
        (words.power_of_ten(-312.4), "10⁻³¹²"),
        (words.power_of_ten(float("-inf")), "0"),
        (words.seconds(0.0123), "12.3\u202fms"),
        (words.seconds(600.0), "10\u202fmin"),
    ],
)
def test_numbers_in_words(value, text):
    assert value == text


@pytest.mark.parametrize(
    ("status", "tone", "phrase"),
    [
        ("optimal", "good", "none saves more than 0.1"),
        ("time_limit", "warn", "The time limit ended the search"),
        ("node_limit", "warn", "The cell limit ended the search"),
        ("interrupted", "warn", "was interrupted"),
        ("uncertified", "warn", "Nothing was proven"),
        ("no_consensus", "bad", "do not use this pose"),
    ],
)
def test_every_status_has_a_verdict(status, tone, phrase):
    _, result = make_case(200, 0.5, status=status, gap=0.001)
    verdict = words.verdict(result)
    assert verdict.tone == tone
    assert phrase in verdict.sentence
    assert "100 of 200 pairs (50\u202f%)" in verdict.sentence


def test_an_infinite_gap_is_called_unproven():
    _, result = make_case(50, 0.5, status="time_limit", gap=float("inf"))
    assert "Nothing was proven" in words.certificate_sentence(result.certificate)
    assert "Nothing proven" in words.stage_sentence(result.certificate.stages[0])
    assert "Nothing was proven" in words.certificate_sentence(Certificate())


def test_a_proven_pose_in_words():
    _, result = make_pose_case()
    assert words.certificate_sentence(result.certificate) == (
        "No rotation and translation saves more than 0.98\u202f% beyond this one, and none elsewhere saves more than "
        "62\u202f% of it."
    )
    assert "cells of all rotations and translations" in words.stage_sentence(result.certificate.stages[0])
    assert judged.runner_up(result).endswith("saves more than 62\u202f% of what this one does")
    assert judged.runner_up(make_case(50, 0.5)[1]) == ""
    _, limited = make_pose_case(status="time_limit", gap=0.3)
    assert "The time limit ended the search" in words.verdict(limited).sentence
    assert "no rotation and translation saves more than 30\u202f%" in words.verdict(limited).sentence.lower()


def test_cells_of_the_pose_are_axes_coloured_by_their_turn():
    _, result = make_pose_case()
    (stage,) = result.certificate.stages
    shape = cells_of(stage, result.rotation)
    assert shape.turns
    turned = np.linalg.norm(stage.visited[:, :3], axis=1)
    left = stage.visited[:, 5] == OPEN
    assert len(shape.rows) == np.count_nonzero(turned > 1e-9)
    assert shape.open == np.count_nonzero(left & (turned > 1e-9)) > 0
    np.testing.assert_allclose(np.linalg.norm(shape.rows[:, :3], axis=1), 1.0)
    assert np.all(shape.rows[:, 3] < 0.0), "dots"
    assert shape.levels == (0.0, 7.0)
    searched = shape.rows[: -shape.open]
    angles = np.pi * (1.0 - searched[:, 4] / 7.0)
    np.testing.assert_allclose(np.sort(angles), np.sort(turned[~left & (turned > 1e-9)]), atol=1e-12)
    assert np.all(np.diff(shape.rows[:, 4]) >= 0.0), "what turns little is drawn last"
    assert np.all(shape.rows[-shape.open :, 5] == OPEN), "and above it what was left open"
    nothing = replace(stage, visited=np.array([[0.0, 0.0, 0.0, 0.1, 3.0, 1.0]]))
    assert cells_of(nothing, result.rotation) is None
    many = replace(stage, visited=np.tile(stage.visited, (20, 1)))
    assert len(cells_of(many, result.rotation).rows) <= 6_000


def test_the_chart_has_a_line_for_poses_elsewhere():
    (stage,) = make_pose_case()[1].certificate.stages
    assert 'class="runner"' in charts.progress_chart(stage)
    assert "no pose elsewhere saves more than 62" in charts.progress_chart(stage)
    assert 'class="runner"' not in charts.progress_chart(replace(stage, elsewhere=None))


@given(st.integers(0, 300), st.integers(1, 100))
@settings(max_examples=30)
def test_choose_gives_distinct_rows_within_the_budget(count, budget):
    rows = choose(count, budget)
    assert len(rows) == min(count, budget)
    assert len(set(rows.tolist())) == len(rows)
    assert np.all((rows >= 0) & (rows < count))


def test_thin_spreads_the_budget_over_space():
    rng = np.random.default_rng(0)
    dense = rng.normal(0, 0.01, (95_000, 3))
    sparse = rng.uniform(-1, 1, (5_000, 3))
    points = np.vstack([dense, sparse]) + np.array([5e5, 5e6, 100.0])
    rows = thin(points, 3000)
    assert 2000 < len(rows) <= 3000
    assert len(np.unique(rows)) == len(rows)
    assert np.mean(rows >= 95_000) > 0.6, "random thinning would keep 5 %"
    prefix = rows[: len(rows) // 4]
    assert np.mean(prefix >= 95_000) == pytest.approx(np.mean(rows >= 95_000), abs=0.1)
    np.testing.assert_array_equal(rows, thin(points, 3000))


@pytest.mark.parametrize("points", [np.zeros((500, 3)), np.tile([[0.0, 0, 0], [1, 1, 1]], (250, 1))])
def test_thin_survives_coincident_points(points):
    assert 1 <= len(thin(points, 100)) <= 100


def test_residuals_and_histogram_count_every_pair_on_its_side_of_the_bound():
    problem, _ = make_case(3000, 0.8)
    distances = residuals(problem.source, problem.target, problem.transformation)
    moved = problem.source @ problem.transformation[:3, :3].T + problem.transformation[:3, 3]
    np.testing.assert_allclose(distances, np.linalg.norm(problem.target - moved, axis=1), atol=1e-12)
    inside = distances <= problem.noise_bound
    data = histogram(distances, inside, problem.noise_bound)
    assert data.inliers.sum() == inside.sum()
    assert data.outliers.sum() == (~inside).sum()
    at = int(np.flatnonzero(data.edges == problem.noise_bound)[0])
    assert data.inliers[at:].sum() == 0
    assert data.outliers[:at].sum() == 0


def test_histogram_is_relative_when_bounds_differ():
    distances = np.array([0.5, 2.0, 0.0, 3.0])
    bounds = np.array([1.0, 4.0, 1.0, 1.0])
    data = histogram(distances, distances <= bounds, bounds)
    assert data.relative
    assert data.threshold == 1.0
    assert data.inliers.sum() == 3
    assert data.inliers[0] == 1, "an exact pair belongs to the first bin"


@pytest.mark.parametrize("bounds", [None, 0.0, np.array([0.0, 1.0, 2.0])])
@pytest.mark.parametrize("distances", [[0.0, 0.0, 0.0], [0.1, 2.0, 30.0]])
def test_histogram_without_a_usable_bound(bounds, distances):
    data = histogram(np.array(distances), np.array([True, False, False]), bounds)
    assert data.threshold is None
    assert data.inliers.sum() + data.outliers.sum() == 3
    assert "<svg" in charts.residual_chart(data)


def test_noise_bounds_from_settings():
    assert noise_bounds(0.5, 3) == 0.5
    assert noise_bounds([1, 1, 1], 3) == 1.0
    np.testing.assert_array_equal(noise_bounds([1, 2, 3], 3), [1, 2, 3])
    assert noise_bounds("auto", 3) is None
    assert noise_bounds([1, 2], 3) is None
    assert noise_bounds(None, 3) is None


def test_cube_cells_are_recognised_and_others_become_discs():
    visited = cube_cells(np.array([0.36, 0.48, 0.8]), levels=6)
    centres, half = snap_to_cube(visited[:, :3], visited[:, 3])
    np.testing.assert_allclose(half, np.pi / 4 / 2 ** (visited[:, 4] + 2))
    np.testing.assert_allclose(centres, visited[:, :3], atol=1e-12)
    centres, half = snap_to_cube(visited[:, :3], visited[:, 3] * 1.4142)
    assert np.all(half < 0)
    np.testing.assert_array_equal(centres, visited[:, :3])


@pytest.mark.parametrize("cell", [(0, 0, 0, 0), (1, 1, 0, 1), (2, 2, 3, 1), (3, 3, 7, 7), (5, 9, 100, 511)])
def test_cells_of_the_search_are_found_again(cell):
    sphere = pytest.importorskip("tear3d.prove.domains.sphere")
    vertices = sphere.cell_vertices(*cell)
    centre = vertices.mean(axis=0) / np.linalg.norm(vertices.mean(axis=0))
    theta = np.arccos(np.clip(vertices @ centre, -1, 1)).max()
    snapped, half = snap_to_cube(centre[None], np.array([theta]))
    assert half[0] == np.pi / 4 / 2 ** cell[1]
    face = np.argmax(np.abs(snapped[0]))
    for axis in {0, 1, 2} - {face}:
        angle = np.arctan2(snapped[0, axis], abs(snapped[0, face]))
        corners = np.arctan2(vertices[:, axis], np.abs(vertices[:, face]))
        np.testing.assert_allclose([corners.min(), corners.max()], [angle - half[0], angle + half[0]], atol=1e-9)


def test_spheres_and_circles_are_told_apart():
    problem, result = make_case(100, 0.5)
    first, second = (cells_of(stage, result.rotation) for stage in result.certificate.stages)
    assert isinstance(first, SphereCells)
    np.testing.assert_allclose(first.found, problem.transformation[0, :3])
    assert np.all(np.diff(first.rows[:, 4]) >= 0), "deeper cells are drawn over shallower ones"
    assert isinstance(second, Arcs)
    assert len(second.rows) == len(result.certificate.stages[1].visited)
    leaves = second.rows[second.rows[:, 3] > 0]
    assert 2 * leaves[:, 1].sum() == pytest.approx(2 * np.pi), "leaves cover the circle once"


def test_scene_keeps_large_coordinates_and_fits_the_budget():
    rng = np.random.default_rng(1)
    n, origin = 100_000, np.array([4.5e5, 5.4e6, 300.0])
    pose = np.eye(4)
    pose[:3, 3] = origin
    source = torus(n)
    target = source + origin
    mask = rng.random(n) < 0.3
    scene = build_scene(source, target, mask, Poses({"found": pose})).drawn
    buffers = {k: np.frombuffer(base64.b64decode(scene[k]), "<f4") for k in ("source", "target", "inliers")}
    assert len(buffers["source"]) + len(buffers["target"]) <= 2 * 3 * 30_000
    assert scene["movedTogether"] == pytest.approx(np.linalg.norm(origin), rel=1e-3)
    pairs = buffers["inliers"].reshape(-1, 6).astype(float)
    matrix = np.array(scene["after"]["found"]).reshape(4, 4).T
    moved = pairs[:, :3] @ matrix[:3, :3].T + matrix[:3, 3]
    assert np.abs(moved - pairs[:, 3:]).max() < 1e-5
    rows = np.array(scene["orientation"]).reshape(3, 3)
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rows) == pytest.approx(1.0)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_linear_ticks_are_few_and_inside(low, span):
    ticks = Scale(low, low + span, 0, 100).ticks()
    assert 1 <= len(ticks) <= 8
    slack = 1e-6 * span + 4.0 * np.spacing(abs(low) + span)  # ticks are rounded as any number is
    assert all(low - slack <= t <= low + span + slack for t in ticks)


@given(st.floats(-9, 6), st.floats(0.31, 12))
def test_log_ticks_are_few_and_inside(exponent, decades):
    scale = Scale(10**exponent, 10 ** (exponent + decades), 0, 100, log=True)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 8
    assert all(-0.2 <= scale(t) <= 100.2 for t in ticks)


def test_long_histories_are_thinned_but_keep_their_end():
    _, result = make_case(100, 0.5)
    stage = result.certificate.stages[0]
    rows = np.linspace([0.0, 1.0, 9.0], [5.0, 2.0, 2.0], 20_000)
    thinned = charts._steps(rows)
    assert len(thinned) <= 400
    np.testing.assert_array_equal(thinned[[0, -1]], rows[[0, -1]])
    assert "<svg" in charts.progress_chart(stage)
