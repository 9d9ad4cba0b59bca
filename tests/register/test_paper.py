"""`method="paper"`: right on small problems, as the paper ran it, and true in what it says."""

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.find import ascent, pool, search
from tear3d.metrics import rotation_error
from tear3d.problem.compiling import COMPILING
from tear3d.synthetic import make_problem
from tests.register.support import is_right, rows_are_those_of_the_pose, solve

EASY = {"n": 300, "outlier_ratio": 0.6}


def by_paper(problem, **options):
    return solve(problem, method="paper", **options)


@pytest.fixture(scope="module")
def problem():
    return make_problem(500, 0.8, seed=1)


@pytest.fixture(scope="module")
def result(problem):
    return by_paper(problem)


def test_it_ends_at_the_branch_resolution_and_says_so(problem, result):
    assert is_right(result, problem)
    assert {stage.ended_by for stage in result.certificate.stages} == {"resolution"}
    assert result.status == "uncertified"
    assert result.success
    assert not result.proven
    assert "branch resolution of 0.001 rad" in result.message
    assert 1e-3 < result.certificate.gap < 2e-2
    assert result.settings["method"] == result.settings["bounds"] == "paper"
    assert result.settings["certify"] == "rows"


def test_a_gap_that_the_resolution_allows_is_closed(problem, result):
    wide = by_paper(problem, rel_gap=0.05)
    assert wide.status == "optimal"
    assert wide.certificate.gap <= 0.05
    assert {stage.ended_by for stage in wide.certificate.stages} == {"gap"}
    assert wide.certificate.cells < result.certificate.cells
    assert rotation_error(wide.transformation, result.transformation) < 0.5


def test_its_rows_are_along_the_coordinate_axes(problem, result):
    (attempt,) = result.certificate.attempts
    assert attempt.axis == (1.0, 0.0, 0.0)
    assert not attempt.swapped
    assert attempt.agrees
    assert rows_are_those_of_the_pose(result, problem.source, problem.target, problem.noise_bound)
    first, second = (np.array(row) for row in attempt.rows)
    for row, truth in zip((first, second), problem.transformation, strict=False):
        assert np.abs(row - truth[:4]).max() < 0.02
    assert abs(first[:3] @ second[:3]) < 1e-12


def test_the_axes_stay_when_the_target_is_smaller(problem):
    """Where `certify="rows"` would let source and target change roles."""
    rng = np.random.default_rng(0)
    target = problem.target.copy()
    wrong = ~problem.inlier_mask
    target[wrong] = 0.2 * rng.normal(size=(wrong.sum(), 3))
    source = problem.source.copy()
    source[wrong] *= 3.0
    result = tear3d.register(source, target, noise_bound=problem.noise_bound, method="paper", rel_gap=0.05)
    (attempt,) = result.certificate.attempts
    assert (attempt.axis, attempt.swapped) == ((1.0, 0.0, 0.0), False)
    assert is_right(result, problem)


@pytest.mark.parametrize("loss", ["tear", "tls"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_agrees_with_rows(loss, seed):
    given = make_problem(**EASY, seed=seed)
    printed, ours = by_paper(given, loss=loss, rel_gap=0.05), solve(given, certify="rows", loss=loss)
    assert printed.status == ours.status == "optimal"
    assert is_right(printed, given)
    assert rotation_error(printed.transformation, ours.transformation) < 0.5
    assert printed.saving <= ours.saving * (1.0 + 1e-9)  # ours is refined on the full objective


def test_nothing_is_searched_for_before(problem, result, monkeypatch):
    def fail(*args, **options):
        raise AssertionError("a candidate was looked for")

    for module, names in {
        search: ("draw_sample", "_explore", "Pool"),
        pool: ("Pool",),
        ascent: ("climb", "climb_from", "climb_band"),
    }.items():
        for name in names:
            monkeypatch.setattr(module, name, fail)
    monkeypatch.setattr(search.Search, "run", fail)
    with pytest.raises(AssertionError):
        solve(problem, certify=False)
    again = by_paper(problem)
    assert np.array_equal(again.transformation, result.transformation)
    assert again.alternatives == ()
    assert set(again.seconds) - {COMPILING} == {"first row", "second row", "refinement", "judgement", "packaging"}


@pytest.mark.parametrize("limit", [{"node_limit": 0}, {"node_limit": 40}, {"time_limit": 0.0}])
def test_limits_hold(problem, limit):
    result = by_paper(problem, **limit)
    (name,) = limit
    assert result.status == name
    assert result.certificate.cells <= limit.get("node_limit", 0)
    assert [stage.ended_by for stage in result.certificate.stages] == [name]
    assert not result.certificate.attempt.complete
    assert np.isfinite(result.transformation).all()
    assert np.linalg.det(result.transformation[:3, :3]) == pytest.approx(1.0)


def test_a_bound_holds_however_early_it_ends(problem, result):
    best = result.certificate.stages[0].saving
    for cells in (1, 10, 100, 300):
        (stage, *_) = by_paper(problem, node_limit=cells).certificate.stages
        assert stage.saving <= best <= stage.saving_bound


def test_progress_is_told_and_may_stop_it(problem):
    told = []

    def watch(report):
        told.append(report.stage)
        return False

    result = by_paper(problem, progress=watch)
    assert result.status == "interrupted"
    assert told == ["first row"]


def test_noise_is_no_consensus():
    rng = np.random.default_rng(2)
    result = tear3d.register(*rng.normal(size=(2, 200, 3)), noise_bound=0.05, method="paper", node_limit=20_000)
    assert result.status in ("no_consensus", "node_limit")
    assert not result.success


@pytest.mark.parametrize("kind", ["three", "all right", "same place", "plane", "weights"])
def test_odd_pairs(kind):
    given = make_problem(60, 0.0 if kind == "all right" else 0.3, seed=3)
    source, target, options = given.source, given.target, {}
    if kind == "three":
        source, target = source[-3:], target[-3:]
    elif kind == "same place":
        source, target = np.repeat(source[:4], 10, axis=0), np.repeat(target[:4], 10, axis=0)
    elif kind == "plane":
        source = source * [1.0, 1.0, 0.0]
    elif kind == "weights":
        options = {"weights": given.inlier_mask + 1e-3}
    result = tear3d.register(source, target, noise_bound=given.noise_bound, method="paper", rel_gap=0.05, **options)
    assert np.isfinite(result.transformation).all()
    assert result.status in ("optimal", "uncertified", "no_consensus")
    if kind in ("all right", "weights"):
        assert is_right(result, given, 1.0, 0.03)


def test_between_clouds_it_is_refused():
    cloud = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(InputError, match="between clouds only 'tear3d'"):
        tear3d.register_clouds(cloud, cloud, method="paper")
