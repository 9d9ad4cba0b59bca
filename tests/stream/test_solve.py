"""Pairs in pieces give what the same pairs in memory give."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError, StoppedError
from tear3d.problem.limits import Limits
from tear3d.problem.pose import Pose
from tear3d.stream.pieces import Pieces
from tear3d.stream.rows import ArrayRows
from tests.naive import full_saving as naive_saving
from tests.stream.support import pieces_of, problem, solve


@pytest.mark.parametrize("loss", ["tear", "tls", "cm"])
def test_the_same_as_in_memory(loss):
    given = problem()
    plain = tear3d.register(given.source, given.target, noise_bound=given.noise_bound, loss=loss)
    found = solve(pieces_of(given, 7_000), loss=loss)
    assert found.status == plain.status == "optimal"
    assert found.saving == pytest.approx(plain.saving, rel=1e-3)
    assert found.objective == pytest.approx(plain.objective, rel=1e-3)
    assert np.allclose(found.transformation, plain.transformation, atol=0.02)
    assert np.mean(found.inlier_mask != plain.inlier_mask) < 1e-3
    assert found.inlier_rmse == pytest.approx(plain.inlier_rmse, rel=1e-2)
    assert found.significance == pytest.approx(plain.significance, rel=0.2)
    if loss != "cm":
        assert np.allclose(np.diag(found.covariance), np.diag(plain.covariance), rtol=0.1)


def test_what_it_says_of_its_pose_is_true():
    given = problem(seed=3)
    found = solve(pieces_of(given, 4_000))
    off = np.linalg.norm(given.target - given.source @ found.rotation.T - found.translation, axis=1)
    assert np.array_equal(found.inlier_mask, off <= given.noise_bound)
    assert found.inlier_rmse == pytest.approx(np.sqrt(np.mean(off[found.inlier_mask] ** 2)), rel=1e-9)
    xi = np.full(len(off), given.noise_bound)
    saving = naive_saving(given.source, given.target, xi, np.ones(len(xi)), found.rotation, found.translation)
    assert found.saving == pytest.approx(saving, rel=1e-9)
    assert found.objective == pytest.approx(xi.sum() - saving, rel=1e-9)


@pytest.mark.clock
def test_steps_add_up_to_what_it_took():
    """Reading is a step of its own, and no part of another."""

    class Slow(ArrayRows):
        def read(self, start, stop):
            time.sleep(0.02)
            return super().read(start, stop)

    given = problem(20_000, 0.8)
    bound, one = np.array([given.noise_bound]), np.ones(1)
    pieces = Pieces.of(Slow(given.source), ArrayRows(given.target), bound, one, 2_000)
    began = time.perf_counter()
    found = solve(pieces, certify=False)
    took = time.perf_counter() - began
    assert found.seconds["reading"] > 0.3
    assert 0.9 * took < sum(found.seconds.values()) <= took


def test_progress_tells_what_is_saved():
    given, seen = problem(60_000, 0.95, cloud="ellipsoid"), []
    limits = Limits(progress=seen.append, interval=1e-4)
    found = solve(pieces_of(given, 8_000), limits=limits, room=1 << 22)
    told = [report for report in seen if report.stage == "pose"]
    assert told
    assert all(report.saving <= found.saving <= report.saving_bound * (1.0 + 1e-9) for report in told)


def test_bits_do_not_depend_on_threads():
    given = problem(20_000, 0.95)
    one, *others = (solve(pieces_of(given, 3_000), threads=threads) for threads in (1, 2, 4))
    for other in others:
        assert np.array_equal(one.transformation, other.transformation)
        assert (one.saving, one.certificate.gap, one.certificate.cells) == (
            other.saving,
            other.certificate.gap,
            other.certificate.cells,
        )
        assert np.array_equal(one.inlier_mask, other.inlier_mask)
        assert np.array_equal(one.covariance, other.covariance)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_a_small_room_is_proven_too(share):
    """Cells are gathered when their pairs fit, one chunk after the other."""
    from tear3d.stream.prove import PAIR_BYTES

    given = problem(40_000, 0.9, cloud="ellipsoid")
    plain = tear3d.register(given.source, given.target, noise_bound=given.noise_bound)
    found = solve(pieces_of(given, 10_000), room=int(share * 40_000 * PAIR_BYTES), time_limit=None)
    assert found.status == plain.status == "optimal"
    assert found.saving == pytest.approx(plain.saving, rel=1e-3)


def test_no_room_is_said():
    given = problem(40_000, 0.85, cloud="ellipsoid")
    found = solve(pieces_of(given, 10_000), room=40_000, time_limit=None)
    assert found.status == "uncertified"
    assert found.certificate.stages[0].ended_by == "memory_limit"
    wanted = found.certificate.stages[0].memory_wanted
    assert f"do not fit into the memory limit (one of about {-(-wanted // 2**20)} MiB would hold them)" in found.message
    assert 0.01 < found.certificate.gap < 2.0
    assert found.success
    more = solve(pieces_of(given, 10_000), room=wanted // 2, time_limit=None)
    assert more.status == "optimal"
    assert more.certificate.stages[0].memory_wanted is None


def test_own_noise_bounds_and_weights():
    given = problem(20_000, 0.8, seed=5)
    rng = np.random.default_rng(0)
    xi = given.noise_bound * rng.uniform(0.7, 1.5, 20_000)
    w = rng.uniform(0.0, 3.0, 20_000)
    w[::7], xi[::11] = 0.0, 0.0
    plain = tear3d.register(given.source, given.target, noise_bound=xi, weights=w)
    found = solve(pieces_of(given, 6_000, xi, w))
    assert found.status == plain.status == "optimal"
    assert found.saving == pytest.approx(plain.saving, rel=1e-3)
    assert found.settings["noise_bound"] == plain.settings["noise_bound"]


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e6), (1e-5, 0.0), (1e13, 0.0)])
def test_units_and_places(scale, offset):
    given = problem(10_000, 0.8)
    source, target = scale * given.source + offset, scale * given.target - offset
    pieces = Pieces.of(ArrayRows(source), ArrayRows(target), np.array([scale * given.noise_bound]), np.ones(1), 3_000)
    found = solve(pieces)
    plain = tear3d.register(source, target, noise_bound=scale * given.noise_bound)
    assert found.status == plain.status == "optimal"
    assert found.saving == pytest.approx(plain.saving, rel=1e-3)
    one, other = (Pose(result.rotation, result.translation).apply(source) for result in (found, plain))
    assert np.abs(one - other).max() < 0.5 * scale * given.noise_bound


def test_noise_is_no_consensus():
    rng = np.random.default_rng(0)
    given = problem(10_000)
    shuffled = type(given)(**{**vars(given), "target": rng.permutation(given.target)})
    found = solve(pieces_of(shuffled, 3_000))
    assert found.status == "no_consensus"
    assert not found.success


def test_limits():
    given = problem(200_000, 0.99, cloud="ellipsoid")
    with pytest.raises(StoppedError, match="not read once"):
        solve(pieces_of(given, 50_000), time_limit=0.0)
    found = solve(pieces_of(given, 50_000), time_limit=1.0)
    assert found.status in ("time_limit", "optimal")
    assert found.certificate.gap > 0.0
    stopped = Limits(progress=lambda progress: progress.stage != "pose")
    assert solve(pieces_of(given, 50_000), limits=stopped).status == "interrupted"


@pytest.mark.parametrize(
    ("column", "row", "value", "text"),
    [
        ("source", 12_345, np.nan, r"source has 1 of 20000 points .* \(first at row 12345\)"),
        ("target", 3, np.inf, r"target has 1 of 20000 points .* \(first at row 3\)"),
        ("source", 19_999, 1e200, r"source has 1 of 20000 .*row 19999"),
    ],
)
def test_bad_rows_are_named(column, row, value, text):
    given = problem(20_000)
    getattr(given, column)[row, 1] = value
    with pytest.raises(InputError, match=text):
        solve(pieces_of(given, 3_000))


def test_bad_numbers_are_named():
    given = problem(20_000)
    xi = np.full(20_000, given.noise_bound)
    xi[15_000] = -1.0
    with pytest.raises(InputError, match=r"noise_bound has 1 entries .* 15000"):
        solve(pieces_of(given, 3_000, xi))
    with pytest.raises(InputError, match="only 0 pairs"):
        solve(pieces_of(given, 3_000, weights=np.zeros(20_000)))
