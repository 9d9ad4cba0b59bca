"""Several motions on the page."""

from __future__ import annotations

import numpy as np

from tear3d.report.html import write_report
from tear3d.report.judged import next_best
from tear3d.report.motions import how_many, rows, section
from tear3d.report.scene import Poses, build_scene
from tests.report.case import make_case
from tests.report.motions import two_motions


def test_the_table_has_a_row_for_each():
    result = two_motions()
    one, two = rows(result)
    assert (one.number, one.inliers, one.share) == (1, "60", "30\u202f%")
    assert (two.inliers, two.turn) == ("40", "0°")
    assert two.translation == "1235  -0.5  22.25"
    html = section(result)
    assert html.count("<tr>") == 3
    assert "var(--part-1)" in html
    assert "2 motions of up to 3 that were asked for" in html
    assert how_many(result) == "2 motions of up to 3 that were asked for"


def test_one_motion_has_no_table():
    _, result = make_case(200)
    assert section(result) == ""
    assert not next_best(result).startswith("besides")


def test_pairs_of_every_motion_are_drawn_by_its_own_pose(tmp_path):
    result = two_motions()
    points = np.random.default_rng(0).normal(size=(200, 3))
    parts = [(one.inlier_mask, one.transformation) for one in result.instances]
    poses = Poses({"found": result.transformation})
    scene = build_scene(points, points, result.inlier_mask, poses, parts=parts).drawn
    assert len(scene["parts"]) == 2
    assert scene["parts"][0]["matrix"] != scene["parts"][1]["matrix"]
    assert scene["shown"][2:] == [100, 100]  # inliers of any motion, and the rest
    page = write_report(tmp_path / "a.html", result, points, points).read_text(encoding="utf-8")
    assert '<section id="motions">' in page
