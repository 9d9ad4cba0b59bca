"""Live views: what the viewers are given is the result."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from tear3d.errors import InputError, MissingExtraError
from tear3d.report.sight import sight_of
from tests.report.case import make_case, make_found


class Kept:
    """A stream that keeps what is logged."""

    def __init__(self):
        self.logged = {}

    def log(self, name, *what, static):
        assert static
        self.logged[name] = what


@pytest.fixture
def served():
    viser = pytest.importorskip("viser", reason="pip install 'tear3d[view]'")
    servers = []

    def serve(result, *pairs, **options):
        server = result.view(*pairs, port=18300, **options)
        assert isinstance(server, viser.ViserServer)
        servers.append(server)
        return server

    yield serve
    for server in servers:
        server.stop()


def handles(server):
    return {name: server.scene.get_handle_by_name(f"/{name}") for name in NAMES}


NAMES = ("source as given", "target", "source aligned", "inlier pairs")


def test_a_server_shows_both_clouds_the_pose_and_the_pairs_that_agree(served):
    problem, result = make_case(400, 0.5)
    server = served(result, problem.source, problem.target)
    assert server.get_host() == "127.0.0.1"
    with urllib.request.urlopen(f"http://127.0.0.1:{server.get_port()}", timeout=20) as page:
        assert page.status == 200
    sight = sight_of(result, problem.source, problem.target)
    shown = handles(server)
    np.testing.assert_allclose(shown["target"].points + sight.origin, sorted_as(problem.target, 100_000), atol=1e-5)
    wanted = sorted_as(problem.source, 100_000) @ result.rotation.T + result.translation
    np.testing.assert_allclose(shown["source aligned"].points + sight.origin, wanted, atol=1e-5)
    given = shown["source as given"]
    np.testing.assert_allclose(
        given.points + given.position + sight.origin, sorted_as(problem.source, 100_000), atol=1e-5
    )
    assert not given.visible
    ends = np.asarray(shown["inlier pairs"].points)
    assert len(ends) == result.num_inliers
    apart = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    np.testing.assert_allclose(np.sqrt(np.mean(apart**2)), residual_of(problem, result), rtol=1e-4)


def sorted_as(points, budget):
    from tear3d.report.sampling import thin

    return points[thin(points, budget)]


def residual_of(problem, result):
    moved = problem.source @ result.rotation.T + result.translation
    return np.sqrt(np.mean(np.sum((moved - problem.target)[result.inlier_mask] ** 2, axis=1)))


def test_a_result_of_clouds_needs_nothing_and_shows_its_own_pose(served):
    problem, result = make_case(300, 0.5)
    pose = problem.transformation.copy()
    pose[:3, 3] += 7.0
    found = make_found(problem, result, transformation=pose)
    shown = handles(served(found))["source aligned"]
    wanted = sorted_as(problem.source, 100_000) @ pose[:3, :3].T + pose[:3, 3]
    np.testing.assert_allclose(shown.points + sight_of(found).origin, wanted, atol=1e-5)


def test_of_many_points_a_part_is_shown_the_same_every_time_and_it_says_so():
    problem, result = make_case(9000, 0.5)
    one, two = (sight_of(result, problem.source, problem.target, budget=500) for _ in range(2))
    np.testing.assert_array_equal(one.source, two.source)
    assert 400 < len(one.source) <= 500
    assert len(one.lines) == 2000
    assert f"{len(one.source)} of 9\u202f000 source points are shown, the same every time." in one.said
    assert "2\u202f000 of 4\u202f500 inlier pairs" in one.said
    assert "All 300 source points are shown." in sight_of(*three(300)).said


def three(count):
    problem, result = make_case(count, 0.5)
    return result, problem.source, problem.target


def test_coordinates_far_from_the_origin_keep_their_digits():
    problem, result = make_case(300, 0.5)
    far = np.array([500_000.0, 5_400_000.0, 300.0])
    pose = problem.transformation.copy()
    pose[:3, 3] += far - pose[:3, :3] @ far
    _, result = make_case(300, 0.5, transformation=pose)
    sight = sight_of(result, problem.source + far, problem.target + far)
    assert np.abs(sight.source).max() < 10.0
    apart = sight.lines.astype(np.float32)
    error = np.linalg.norm(apart[:, 0] - apart[:, 1], axis=1)
    np.testing.assert_allclose(
        np.sqrt(np.mean(error.astype(float) ** 2)), residual_of(problem, make_case(300, 0.5)[1]), rtol=1e-3
    )


def test_a_recording_has_the_clouds_and_the_pose_as_a_transform():
    rerun = pytest.importorskip("rerun", reason="pip install 'tear3d[view]'")
    problem, result = make_case(400, 0.5)
    kept = Kept()
    assert result.to_rerun(problem.source, problem.target, recording=kept, path="here") is kept
    assert set(kept.logged) == {f"here/{name}" for name in ("target", "source", "aligned", "inlier_pairs", "verdict")}
    transform, points = kept.logged["here/aligned"]
    assert isinstance(transform, rerun.Transform3D)
    matrix = np.array(transform.mat3x3.as_arrow_array().to_pylist()[0]).reshape(3, 3).T  # by columns
    shift = np.array(transform.translation.as_arrow_array().to_pylist()[0])
    places = np.array(points.positions.as_arrow_array().to_pylist())
    origin = sight_of(result, problem.source, problem.target).origin
    wanted = sorted_as(problem.source, 100_000) @ result.rotation.T + result.translation
    np.testing.assert_allclose(places @ matrix.T + shift + origin, wanted, atol=1e-5)


def test_a_recording_becomes_a_file(tmp_path):
    pytest.importorskip("rerun")
    problem, result = make_case(100, 0.5)
    recording = make_found(problem, result).to_rerun()
    recording.save(str(tmp_path / "a.rrd"))
    recording.flush()
    recording.disconnect()
    command = [str(Path(sys.executable).parent / "rerun"), "rrd", "print", "-v", str(tmp_path / "a.rrd")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("target", "source", "aligned", "inlier_pairs", "verdict"):
        assert f"/tear3d/{name}" in printed


@pytest.mark.parametrize(("method", "package"), [("view", "viser"), ("to_rerun", "rerun")])
def test_without_the_package_the_extra_is_named(monkeypatch, method, package):
    problem, result = make_case(50, 0.5)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"tear3d\[view\]"):
        getattr(make_found(problem, result), method)()


def test_a_result_of_pairs_asks_for_them():
    _, result = make_case(50, 0.5)
    with pytest.raises(InputError, match="pass source and target"):
        sight_of(result)
