"""Why there is no pose, on the command line and in the report."""

from __future__ import annotations

import re

import numpy as np

from tear3d.cli.session import NOT_PROVEN
from tear3d.synthetic import make_problem
from tests.cli.support import run

RNG = np.random.default_rng(1)


def plain(text: str) -> str:
    return re.sub(r"[\s│]+", " ", text)


def test_a_collapsed_cloud_is_shown_no_pose(tmp_path):
    np.savez(tmp_path / "a.npz", source=RNG.normal(size=(50, 3)), target=np.ones((50, 3)), noise_bound=0.05)
    page = tmp_path / "a.html"
    printed = plain(run("register", tmp_path / "a.npz", "--scale", "--report", page, code=NOT_PROVEN).stdout)
    assert "There is no pose to be found" in printed
    assert "All target points coincide: the scale would be zero, and that is no pose." in printed
    assert "pose none: nothing was sought" in printed
    assert "What to try" not in printed
    assert "Found by the search" not in page.read_text(encoding="utf-8")


def test_the_reason_is_printed(tmp_path):
    x = RNG.normal(size=(3, 3))
    np.savez(tmp_path / "a.npz", source=x, target=x, noise_bound=0.05)
    printed = plain(run("register", tmp_path / "a.npz", code=NOT_PROVEN).stdout)
    assert "note 3 pairs agree with this pose, as any 3 pairs that keep their lengths agree with some pose" in printed


def test_a_scale_outside_its_range(tmp_path):
    problem = make_problem(200, 0.5, scale=3.0, seed=1)
    np.savez(tmp_path / "a.npz", source=problem.source, target=problem.target, noise_bound=problem.noise_bound)
    options = ("--certify", "none", "--scale", "--scale-range")
    printed = plain(run("register", tmp_path / "a.npz", *options, "0.2,1", code=NOT_PROVEN).stdout)
    assert "in the range looked at (--scale-range)" in printed
    assert "scale 3, as given" in plain(run("register", tmp_path / "a.npz", *options, "3,3").stdout)


def test_what_a_message_adds_is_printed_once(tmp_path):
    """That the pose lies at the edge of a prior, or its scale at the end of the range."""
    problem = make_problem(300, 0.5, seed=1)
    np.savez(tmp_path / "a.npz", source=problem.source, target=problem.target, noise_bound=problem.noise_bound)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(0.04), -np.sin(0.04)], [np.sin(0.04), np.cos(0.04)]]
    np.savetxt(tmp_path / "pose.txt", turn @ problem.transformation)
    options = ("--initial", tmp_path / "pose.txt", "--within", "1.7,1")
    printed = plain(run("register", tmp_path / "a.npz", *options).stdout)
    told = "note The pose lies at the edge of what is allowed, beyond which nothing was looked at."
    assert printed.count(told) == 1
    ended = plain(run("register", tmp_path / "a.npz", "--scale", "--scale-range", "0.5,0.99").stdout)
    assert ended.count("note The scale is the largest that was looked at, a larger one may fit better.") == 1
    assert " note " not in plain(run("register", tmp_path / "a.npz").stdout)


def test_where_a_prior_fits_nothing_no_scale_is_advised(tmp_path):
    problem = make_problem(300, 0.5, seed=1)
    np.savez(tmp_path / "a.npz", source=problem.source, target=problem.target, noise_bound=problem.noise_bound)
    away = problem.transformation.copy()
    away[:3, 3] += 50.0
    np.savetxt(tmp_path / "pose.txt", away)
    options = ("--initial", tmp_path / "pose.txt", "--within", "5,0.1")
    printed = plain(run("register", tmp_path / "a.npz", *options, code=NOT_PROVEN).stdout)
    assert "Is what is given of the pose right?" in printed
    assert "--scale" not in printed
    assert "best other pose" not in printed
