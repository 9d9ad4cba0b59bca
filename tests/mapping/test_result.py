"""What a map says of itself, and the files it writes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.errors import InputError
from tear3d.io.clouds import read_cloud, write_cloud
from tear3d.mapping.files import write_coloured, write_g2o, write_trajectory
from tear3d.mapping.merge import Merged, colours
from tests.bumpy import apply
from tests.mapping.made import VOXEL, loop, made_map
from tests.mapping.survey import farthest


def test_a_loop_is_one_map():
    made, scans, truth = made_map(loop())
    assert made.success
    assert made.components == (tuple(range(6)),)
    assert made.origin == 0
    assert made.notes == ()
    assert made.message == f"all 6 scans are in one map: {len(made.edges)} edges kept, 0 dropped"
    for scan, pose, true in zip(scans, made.poses, truth, strict=True):
        assert farthest(scan, pose, true) < 1e-9


def test_a_wrong_edge_is_dropped_and_says_by_how_much():
    made, scans, truth = made_map(loop() | {(0, 1): "wrong"})
    (dropped,) = (edge for edge in made.edges if edge.fate == "dropped")
    assert (dropped.target, dropped.source) == (0, 1)
    assert dropped.residual > 4.74
    assert not dropped.undecided
    assert made.success
    assert farthest(scans[1], made.poses[1], truth[1]) < 1e-9


def test_what_the_clouds_do_not_confirm_is_listed_and_not_used():
    made, *_ = made_map(loop() | {(0, 3): "doubtful", (1, 4): "rejected", (2, 5): "failed"})
    fates = {(edge.target, edge.source): edge for edge in made.edges}
    assert [fates[pair].fate for pair in ((0, 3), (1, 4), (2, 5))] == ["doubtful", "rejected", "failed"]
    assert fates[0, 3].reasons == ("doubtful as made up",)
    assert np.isnan(fates[0, 3].residual)
    assert fates[0, 3].weighed is None
    assert fates[2, 5].reasons == ("only 2 matches as made up",)
    assert made.notes == ("1 pair could not be registered, the first because: only 2 matches as made up",)


def test_scans_that_hang_on_one_edge_are_named():
    made, *_ = made_map({(0, 1): "confirmed", (1, 2): "confirmed", (0, 2): "confirmed", (2, 3): "confirmed"}, count=4)
    assert made.hanging == {(2, 3): (3,)}
    assert made.notes == ("scan 3 hangs on one edge, that between scan 2 and scan 3: no other bears it out",)
    assert made.success


def test_scans_that_cannot_be_joined_have_no_pose():
    made, *_ = made_map({(1, 2): "confirmed", (2, 3): "confirmed", (1, 3): "confirmed", (4, 5): "confirmed"})
    assert made.components == ((1, 2, 3), (4, 5), (0,))
    assert [pose is None for pose in made.poses] == [True, False, False, False, True, True]
    assert made.origin == 1
    assert not made.success
    assert made.message == "3 of 6 scans are in the map: 3 edges kept, 0 dropped"
    assert "not in the map: scan 4, scan 5, placed among themselves only" in made.notes
    assert "not in the map: scan 0" in made.notes
    assert "the frame of the map is that of scan 1, the first scan in it" in made.notes


def test_nothing_joined():
    made, *_ = made_map({(0, 1): "doubtful"}, count=2)
    assert made.message == "none of the 2 scans could be joined to another"
    assert not made.success


def test_what_the_graph_cannot_decide_is_no_success():
    made, *_ = made_map(loop(4, 1) | {(0, 1): "wrong"}, count=4)
    assert len(made.undecided) == 1
    assert not made.success
    assert made.message.endswith("3 edges kept, 1 dropped, of which 1 may be right")
    assert any("may be the wrong one instead" in note for note in made.notes)


def test_what_is_not_decided_elsewhere_is_not_said_of_the_map():
    whole = {(0, 1): "confirmed", (1, 2): "confirmed", (2, 3): "confirmed", (0, 2): "confirmed", (1, 3): "confirmed"}
    made, *_ = made_map(whole | {(4, 5): "confirmed", (5, 6): "confirmed", (4, 6): "wrong"}, count=7)
    assert len(made.undecided) == 1
    assert made.message == "4 of 7 scans are in the map: 5 edges kept, 0 dropped"


def test_a_limit_that_was_reached_is_said():
    made, *_ = made_map(loop(), max_tries=12, left_out={(0, 3), (1, 4)})
    assert made.notes == ("the limit of 12 tries was reached: 2 pairs were not tried",)


def test_json_is_strict_and_complete():
    made, *_ = made_map(loop() | {(0, 3): "failed"})
    told = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert told["kind"] == "map"
    assert len(told["scans"]) == 6
    np.testing.assert_array_equal(told["scans"][2]["pose"], made.poses[2])
    assert {edge["fate"] for edge in told["edges"]} == {"kept", "failed"}
    assert told["success"] is True


def test_the_merged_cloud_has_one_point_to_a_voxel_in_the_colour_of_its_scan(tmp_path):
    made, scans, truth = made_map(loop())
    cloud = made.merged(VOXEL)
    # The grid starts at the corner of the first scan.
    corner = cloud.points[cloud.scans == 0].min(axis=0)
    cells = np.floor((cloud.points - corner) / VOXEL)
    assert len(np.unique(cells, axis=0)) == len(cells) > 300
    np.testing.assert_array_equal(cloud.colours, colours(6)[cloud.scans])
    assert set(cloud.scans) == set(range(6))
    near = np.linalg.norm(apply(truth[3], scans[3])[:, None] - cloud.points[cloud.scans == 3][:50], axis=2).min(axis=0)
    assert near.max() < VOXEL
    write_coloured(tmp_path / "map.ply", cloud)
    np.testing.assert_array_equal(read_cloud(tmp_path / "map.ply"), cloud.points)


def test_scans_can_be_files(tmp_path):
    def written(scans):
        for number, scan in enumerate(scans):
            write_cloud(tmp_path / f"s{number}.ply", scan)
        return sorted(tmp_path.iterdir())

    made, *_ = made_map(loop(), given=written)
    assert made.names == tuple(f"s{k}.ply" for k in range(6))
    assert len(made.merged().points) > 100


def test_trajectories_read_back(tmp_path):
    made, *_ = made_map({(1, 2): "confirmed", (2, 3): "confirmed", (1, 3): "confirmed"}, count=4)
    write_trajectory(tmp_path / "t.tum", made, "tum")
    rows = np.loadtxt(tmp_path / "t.tum")
    assert rows[:, 0].tolist() == [1, 2, 3]
    for row in rows:
        pose = made.poses[int(row[0])]
        np.testing.assert_allclose(row[1:4], pose[:3, 3], atol=1e-14)
        np.testing.assert_allclose(Rotation.from_quat(row[4:]).as_matrix(), pose[:3, :3], atol=1e-12)
    write_trajectory(tmp_path / "t.kitti", made, "kitti")
    rows = np.loadtxt(tmp_path / "t.kitti")
    assert np.isnan(rows[0]).all()
    np.testing.assert_array_equal(rows[2].reshape(3, 4), made.poses[2][:3])
    with pytest.raises(InputError, match="'tum' or 'kitti'"):
        write_trajectory(tmp_path / "t", made, "matrix")


def test_the_graph_reads_back_as_g2o(tmp_path):
    made, *_ = made_map(loop() | {(0, 1): "wrong", (0, 3): "doubtful"})
    write_g2o(tmp_path / "graph.g2o", made)
    lines = [line.split() for line in (tmp_path / "graph.g2o").read_text().splitlines()]
    vertices = {int(words[1]): np.array(words[2:], float) for words in lines if words[0] == "VERTEX_SE3:QUAT"}
    assert sorted(vertices) == list(range(6))
    assert ["FIX", "0"] in lines
    edges = [words for words in lines if words[0] == "EDGE_SE3:QUAT"]
    assert len(edges) == made.count("kept")
    assert sum(words[:2] == ["#", "dropped:"] for words in lines) == 1
    kept = {(edge.target, edge.source): edge for edge in made.edges if edge.fate == "kept"}
    for words in edges:
        i, j, values = int(words[1]), int(words[2]), np.array(words[3:], float)
        # What the vertices say of the edge is what it measured.
        one, other = (Rotation.from_quat(vertices[k][3:]) for k in (i, j))
        np.testing.assert_allclose(one.inv().apply(vertices[j][:3] - vertices[i][:3]), values[:3], atol=1e-6)
        assert (Rotation.from_quat(values[3:7]).inv() * one.inv() * other).magnitude() < 1e-6
        information = np.zeros((6, 6))
        information[np.triu_indices(6)] = values[7:]
        information += np.triu(information, 1).T
        # Translation first, and half the rotation vector, as g2o has it.
        weighed = kept[i, j].weighed[np.ix_([3, 4, 5, 0, 1, 2], [3, 4, 5, 0, 1, 2])]
        half = np.diag([1.0] * 3 + [0.5] * 3)
        np.testing.assert_allclose(information @ half @ weighed @ half, np.eye(6), atol=1e-6)


def test_far_from_the_origin_the_graph_is_written_about_the_middles_of_the_scans(tmp_path):
    """In the coordinates of a country the information has no digits."""
    far = np.array([5e5, 4e6, 100.0])
    made, *_ = made_map(loop(), away=far)
    write_g2o(tmp_path / "graph.g2o", made)
    lines = [line.split() for line in (tmp_path / "graph.g2o").read_text().splitlines()]
    origins = np.array([line[4:] for line in lines if line[:3] == ["#", "origin", "of"]], float)
    np.testing.assert_array_equal(origins, made.graph.centres)
    vertices = np.array([line[2:5] for line in lines if line[0] == "VERTEX_SE3:QUAT"], float)
    moved = [apply(pose, middle[None])[0] for pose, middle in zip(made.poses, origins, strict=True)]
    np.testing.assert_allclose(vertices + origins[0], moved, atol=1e-6)
    edges = [np.array(line[10:], float) for line in lines if line[0] == "EDGE_SE3:QUAT"]
    assert len(edges) == made.count("kept")
    for upper in edges:
        information = np.zeros((6, 6))
        information[np.triu_indices(6)] = upper
        values = np.linalg.eigvalsh(information, UPLO="U")
        assert 0.0 < values[-1] < 1e4 * values[0]


def test_colours_of_files_are_kept(tmp_path):
    """Those of a scan whose file has them; the points are those of the file."""

    def written(scans):
        for number, scan in enumerate(scans):
            write_cloud(tmp_path / f"s{number}.ply", scan)
        red = np.tile(np.array([200, 30, 10], np.uint8), (len(scans[2]), 1))
        write_coloured(tmp_path / "s2.ply", Merged(scans[2], red, np.zeros(len(red), np.int64)))
        return sorted(tmp_path.iterdir())

    made, scans, _ = made_map(loop(), given=written)
    cloud = made.merged()
    own = cloud.scans == 2
    assert own.any()
    assert (cloud.colours[own] == [200, 30, 10]).all()
    np.testing.assert_array_equal(cloud.colours[~own], colours(6)[cloud.scans[~own]])
    back = apply(np.linalg.inv(made.poses[2]), cloud.points[own])
    assert np.linalg.norm(scans[2][:, None] - back, axis=2).min(axis=0).max() < 1e-9
