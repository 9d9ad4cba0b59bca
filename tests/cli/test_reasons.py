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
