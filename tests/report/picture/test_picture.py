"""Still pictures of figures: what they show is what the figure holds."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from tear3d.result import Certificate
from tests.report.case import make_case, make_found

pytest.importorskip("plotly", reason="pip install 'tear3d[report]'")
Image = pytest.importorskip("PIL.Image", reason="pip install 'tear3d[report]'")

from tear3d.report import plots  # noqa: E402
from tear3d.report.drawing import SOURCE, TARGET  # noqa: E402
from tear3d.report.picture.canvas import HEIGHT, WIDTH, plain  # noqa: E402
from tear3d.report.picture.space import Dots, View, along, splat  # noqa: E402

AHEAD = View(np.zeros(3), 1.0, np.eye(3), 1.5)


def pixels(figure) -> np.ndarray:
    image = Image.open(io.BytesIO(figure.to_png()))
    assert image.size == (WIDTH, HEIGHT)
    return np.asarray(image.convert("RGB")).astype(int)


def share(picture: np.ndarray, colour: str) -> float:
    """Of the pixels, how many have about this colour."""
    wanted = np.array(list(bytes.fromhex(colour[1:])))
    return float(np.mean(np.abs(picture - wanted).max(axis=2) < 40))


def test_every_kind_of_figure_has_a_picture():
    problem, result = make_case(500, 0.5)
    pairs = result, problem.source, problem.target
    drawn = [
        plots.residual_histogram(*pairs),
        plots.search_progress(result),
        plots.sphere_cells(result),
        plots.aligned_clouds(*pairs),
    ]
    for figure in drawn:
        picture = pixels(figure)
        assert np.all(picture[0, -1] == 255), "the ground is white"
        assert np.mean(np.any(picture < 200, axis=2)) > 0.005


def test_a_figure_of_clouds_shows_both_where_they_are():
    problem, result = make_case(2000, 0.5)
    found = make_found(problem, result)
    apart = found.plot(source=problem.source, target=problem.source + np.array([2.0, 0.0, 0.0]), pose=np.eye(4))
    picture = pixels(apart)
    assert share(picture, SOURCE) > 0.002
    assert share(picture, TARGET) > 0.002
    assert "as given" in apart.layout.title.text
    colour = np.array(list(bytes.fromhex(SOURCE[1:])))
    columns = np.nonzero(np.abs(picture - colour).max(axis=2) < 40)[1]
    in_scene = columns > 150  # right of the legend
    blue = np.array(list(bytes.fromhex(TARGET[1:])))
    others = np.nonzero(np.abs(picture - blue).max(axis=2) < 40)[1]
    spread = np.ptp(columns[in_scene])
    assert abs(np.median(columns[in_scene]) - np.median(others[others > 150])) > spread


def test_clouds_of_a_result_are_drawn_under_its_own_pose():
    problem, result = make_case(300, 0.5)
    turned = problem.transformation.copy()
    turned[:3, 3] += 5.0
    found = make_found(problem, result, transformation=turned)
    source, target, *_ = found.plot().data
    drawn = np.column_stack([source.x, source.y, source.z])
    wanted = problem.source @ turned[:3, :3].T + turned[:3, 3]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(wanted, axis=0))
    assert len(target.x) == 300
    assert found.plot(kind="residuals").data[0].type == "bar"


def test_a_scale_moves_the_source_too():
    problem, result = make_case(300, 0.5)
    grown = problem.transformation.copy()
    grown[:3, :3] *= 2.0
    _, result = make_case(300, 0.5, transformation=grown, scale=2.0)
    source = plots.aligned_clouds(result, problem.source, problem.target).data[0]
    wanted = problem.source @ grown[:3, :3].T + grown[:3, 3]
    np.testing.assert_allclose(np.sort(source.x), np.sort(wanted[:, 0]))


def test_cells_that_were_all_split_are_shown_and_named():
    _, result = make_case(50, 0.5)
    stage = result.certificate.stages[0]
    visited = stage.visited.copy()
    visited[:, 5] = 0.0
    split_only = replace(result, certificate=Certificate.of(replace(stage, visited=visited)))
    (split,) = plots.sphere_cells(split_only).data
    assert split.name == "split"
    assert len(split.x) > 0


def test_what_is_nearer_hides_what_is_behind_and_the_faint_is_behind_all():
    points = np.array([[0.0, 0.0, 0.2], [0.0, 0.0, -0.2], [0.0, 0.0, 0.4]])
    tones = np.diag([255, 255, 255]).astype(np.uint8)
    dots = Dots(points, tones, np.full(3, 2.0), np.array([False, False, True]))
    picture = splat(AHEAD, dots, 40)
    assert picture[20, 20].tolist() == [255, 0, 0]
    assert picture[0, 0].tolist() == [255, 255, 255]
    outside = Dots(points + np.array([0.0, 0.6, 0.0]), *dots[1:])
    assert np.all(splat(AHEAD, outside, 40) == 255)


def test_points_lie_where_the_camera_sees_them():
    picture = splat(
        AHEAD, Dots(np.array([[0.4, 0.2, 0.0]]), np.zeros((1, 3), np.uint8), np.zeros(1), np.zeros(1, bool)), 200
    )
    (row,), (column,) = np.nonzero(picture[:, :, 0] == 0)
    half = np.tan(np.pi / 8) * 1.5
    assert abs(column - 100 * (1 + 0.4 / half)) <= 1
    assert abs(row - 100 * (1 - 0.2 / half)) <= 1


def test_lines_are_whole():
    ends = np.array([[[-0.4, 0.0, 0.0], [0.4, 0.0, 0.0]]])
    points = along(AHEAD, ends, 100.0)
    np.testing.assert_allclose(points[[0, -1]], ends[0])
    assert np.diff(AHEAD.project(points)[0][:, 0]).max() * 50 <= 1.01
    assert len(along(AHEAD, np.empty((0, 2, 3)), 100.0)) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ξ ≤ 1\u202f000 − 2°", "xi <= 1 000 - 2°"),
        ("10⁻²³⁷", "10^-237"),
        ("é 猫", "e ?"),
        ("10²", "10^2"),
    ],
)
def test_words_are_spelt_in_letters_that_the_font_has(text, said):
    assert plain(text) == said
