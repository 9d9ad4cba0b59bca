"""The report as a file, and the notebook figures."""

import base64
import json
import re
import sys

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError, MissingExtraError
from tear3d.report import plots, words, write_report
from tear3d.report.cells import OPEN
from tests.report.case import make_case, make_pose_case


def embedded(page: str) -> dict:
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1))


def test_the_page_is_self_contained_and_says_what_was_found(tmp_path):
    problem, result = make_case()
    path = write_report(tmp_path / "out.html", result, problem.source, problem.target, truth=problem.transformation)
    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "out.html"
    assert list(tmp_path.iterdir()) == [path], "no temporary file is left"
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert not re.search(r"https?://", page)
    for text in (
        "Registered, and proven optimal",
        "first row",
        "second row",
        "noise_bound",
        "numba",
        "ξ = 0.0554",
    ):
        assert text in page
    copied = re.search(r'id="pose-text" class="hidden">(.*?)</pre>', page, re.S).group(1)
    np.testing.assert_array_equal(np.loadtxt(copied.splitlines()), result.transformation)
    repeat = json.loads(
        re.search(r'id="settings-json" class="hidden">(.*?)</pre>', page, re.S).group(1).replace("&quot;", '"')
    )
    assert repeat["settings"]["rel_gap"] == 1e-3
    assert repeat["versions"]["numpy"] == np.__version__


def test_a_proven_pose_has_its_words_its_tile_and_its_cells(tmp_path):
    problem, result = make_pose_case()
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target).read_text()
    assert "No rotation and translation saves more than 0.98\u202f% beyond this one" in page
    assert "<dt>Elsewhere</dt><dd>≤\u202f62\u202f%" in page
    assert "Proven: no pose that puts a point more than 3 noise bounds elsewhere saves more than 62" in page
    assert "whether the pairs are right is not proven" in page
    assert "no pose elsewhere saves more" in page
    assert "Each stage searches one part of the pose" not in page
    (sphere,) = embedded(page)["spheres"]
    assert sphere["levels"] == [0.0, 7.0]
    turned = np.linalg.norm(result.certificate.stages[0].visited[:, :3], axis=1) > 1e-9
    assert f"with {words.count(np.count_nonzero(turned))} of the cells" in page
    assert "searched, half a turn" in page
    assert "still open" in page
    problem, rows = make_case(60, 0.5)
    page = write_report(tmp_path / "y.html", rows, problem.source, problem.target).read_text()
    assert "Each stage searches one part of the pose" in page
    assert "Elsewhere" not in page


def test_a_proof_over_scales_is_said_to_be_one_of_the_whole_pose(tmp_path):
    problem = tear3d.synthetic.make_problem(400, 0.8, seed=2)
    result = tear3d.register(
        2.0 * problem.source, problem.target, noise_bound=problem.noise_bound, estimate_scale=True, scale_range=(0.2, 2)
    )
    page = write_report(tmp_path / "a.html", result, problem.source, problem.target).read_text("utf-8")
    assert result.proven
    assert "The one stage here covers the whole pose at once" in page
    assert "Each stage searches one part of the pose" not in page


@pytest.mark.parametrize("closed", [True, False])
def test_the_cells_of_a_real_proof_are_shown(tmp_path, closed):
    problem = tear3d.synthetic.make_problem(600, 0.9, seed=1)
    limit = {} if closed else {"node_limit": 100}
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, **limit)
    assert result.proven == closed
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target).read_text()
    (sphere,) = embedded(page)["spheres"]
    rows = np.frombuffer(base64.b64decode(sphere["rows"]), "<f4").reshape(-1, 6)
    assert (OPEN in rows[:, 5]) == (not closed)
    np.testing.assert_allclose(np.linalg.norm(rows[:, :3], axis=1), 1.0, atol=1e-5)
    assert f"with {words.count(len(rows))} of the cells" in page
    assert ("still open" in page) == (not closed)


def test_text_from_outside_is_escaped(tmp_path):
    problem, result = make_case(100, 0.5)
    evil = "</script><script>alert(1)</script>$title"
    result = make_case(100, 0.5, message=evil, settings={evil: evil, "noise_bound": 0.05})[1]
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target, title=evil).read_text()
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    assert "$title" in page, "text is not a template"


@pytest.mark.parametrize("status", ["optimal", "time_limit", "uncertified", "no_consensus"])
def test_every_kind_of_result_gives_a_page(tmp_path, status):
    problem, result = make_case(60, 0.5, status=status)
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target).read_text()
    assert status.replace("_", " ") in page


def test_degenerate_results(tmp_path):
    problem, _ = make_case(30, 0.5)
    nothing = np.zeros(30, dtype=bool)
    changes = {
        "inlier_mask": nothing,
        "inlier_rmse": float("nan"),
        "significance": float("inf"),
        "settings": {},
    }
    result = make_case(30, 0.5, status="uncertified", seconds={}, **changes)[1]
    assert write_report(tmp_path / "a.html", result, problem.source, problem.target).exists()
    everything = make_case(30, 0.5, inlier_mask=~nothing)[1]
    assert write_report(tmp_path / "b.html", everything, np.zeros((30, 3)), np.zeros((30, 3))).exists()


def test_clouds_and_a_refined_pose(tmp_path):
    problem, result = make_case(300, 0.5)
    rng = np.random.default_rng(0)
    cloud = rng.uniform(size=(50_000, 3))
    page = write_report(
        tmp_path / "x.html",
        result,
        problem.source,
        problem.target,
        source_cloud=cloud,
        target_cloud=cloud,
        refined=np.eye(4),
    ).read_text()
    data = embedded(page)
    assert list(data["scene"]["after"]) == ["found", "refined"]
    assert max(data["scene"]["shown"][:2]) <= 30_000
    assert "of 50\u202f000" in page
    assert 'data-pose="refined" aria-pressed="true"' in page
    copied = re.search(r'id="pose-text" class="hidden">(.*?)</pre>', page, re.S).group(1)
    np.testing.assert_array_equal(np.loadtxt(copied.splitlines()), np.eye(4))


def test_a_noise_bound_per_pair(tmp_path):
    problem, result = make_case(300, 0.5)
    bounds = np.linspace(0.01, 0.1, 300)
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target, noise_bound=bounds).read_text()
    assert "residual divided by" in page
    assert "noise bound per pair" in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": np.zeros((3, 60))}, "source has 3 rows and 60 columns"),
        ({"target": np.zeros((59, 3))}, "target has 59 points but the result is about 60 pairs"),
        ({"truth": np.eye(3)}, "truth is not a finite 4×4 matrix"),
        ({"refined": np.full((4, 4), np.nan)}, "refined is not a finite 4×4 matrix"),
        ({"source_cloud": np.empty((0, 3))}, "source_cloud has no points"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(tmp_path, changes, message):
    problem, result = make_case(60, 0.5)
    arguments = {"source": problem.source, "target": problem.target} | changes
    with pytest.raises(InputError, match=re.escape(message)):
        write_report(tmp_path / "x.html", result, **arguments)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path):
    problem, result = make_case(60, 0.5)
    with pytest.raises(InputError, match="missing"):
        write_report(tmp_path / "missing" / "x.html", result, problem.source, problem.target)


def test_a_million_pairs_weigh_less_than_2_megabytes(tmp_path):
    problem, result = make_case(1_000_000, 0.99)
    path = write_report(tmp_path / "x.html", result, problem.source, problem.target)
    assert path.stat().st_size < 2e6


def test_figures():
    pytest.importorskip("plotly")
    problem, result = make_case(2000, 0.9)
    pairs = result, problem.source, problem.target
    bars = plots.residual_histogram(*pairs)
    assert sum(trace.y.sum() for trace in bars.data) == 2000
    progress = plots.search_progress(result)
    assert len(progress.data) == 4
    assert progress.data[0].y[-1] == pytest.approx(100.093)
    cells = plots.sphere_cells(result)
    visited = result.certificate.stages[0].visited
    assert [len(t.x) for t in cells.data] == [np.count_nonzero(visited[:, 5] == fate) for fate in (1, 2)]
    assert len(plots.sphere_cells(result, "second row").data) == 2
    clouds = plots.aligned_clouds(*pairs, budget=500)
    assert len(clouds.data[0].x) <= 500
    assert clouds.data[3].visible == "legendonly"
    with pytest.raises(InputError, match="choose one of"):
        plots.sphere_cells(result, "third row")
    with pytest.raises(InputError, match="history"):
        plots.search_progress(make_case(50, 0.5, status="uncertified")[1])
    with pytest.raises(InputError, match="source has shape"):
        plots.aligned_clouds(result, problem.source[1:], problem.target)


def test_figures_of_a_proven_pose():
    pytest.importorskip("plotly")
    _, result = make_pose_case()
    (stage,) = result.certificate.stages
    _, _, elsewhere = plots.search_progress(result).data
    assert list(elsewhere.y) == [pytest.approx(62.0)] * 2
    searched, left = plots.sphere_cells(result, "pose").data
    assert [searched.name, left.name] == ["searched", "still open"]
    turned = stage.visited[np.linalg.norm(stage.visited[:, :3], axis=1) > 1e-9]
    assert [len(searched.x), len(left.x)] == [np.count_nonzero(turned[:, 5] == fate) for fate in (0, 2)]
    np.testing.assert_allclose(np.hypot(np.hypot(searched.x, searched.y), searched.z), 1.0)
    assert 0.0 < min(searched.marker.color) < max(searched.marker.color) <= 180.0


def test_figures_without_plotly_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(MissingExtraError, match=r"tear3d\[report\]"):
        plots.search_progress(make_case(50, 0.5)[1])
