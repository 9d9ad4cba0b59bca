"""The benchmark of ambiguous shapes: its shapes are what they say, and it counts what it says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from benchmarks import ambiguity
from benchmarks.families import ASYMMETRIC, SYMMETRIC, sampler
from benchmarks.solids import box, cylinder, prism, rectangle


def test_points_are_spread_by_area():
    points = box(1.0, 2.0, 3.0).sample(60_000, np.random.default_rng(0))
    on_face = np.abs(points) > np.array([1.0, 2.0, 3.0]) / 2 - 1e-9
    assert on_face.any(axis=1).all()
    assert on_face.mean(axis=0) == pytest.approx(np.array([6.0, 3.0, 2.0]) / 11.0, abs=0.01)


def test_solids_are_where_they_should_be():
    rng = np.random.default_rng(0)
    round_ = cylinder(2.0, 3.0, closed=False).sample(500, rng)
    assert np.hypot(round_[:, 0], round_[:, 1]) == pytest.approx(2.0, abs=0.01)
    tapered = prism(np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]), 2.0, 0.5).sample(5_000, rng)
    assert np.abs(tapered[tapered[:, 2] > 0.99, :2]).max() < 0.51
    assert np.all(rectangle(1.0, 2.0).moved((0.0, 0.0, 4.0)).sample(10, rng)[:, 2] == 4.0)


@pytest.mark.parametrize(("family", "order"), [("bumpy, half turn", 2), ("box", 2), ("columns", 2), ("tetrahedron", 2)])
def test_symmetric_shapes_lie_on_themselves_when_turned(family, order):
    rng = np.random.default_rng(1)
    points = sampler(SYMMETRIC[family](rng))(40_000, rng)
    turned = points @ Rotation.from_rotvec([0.0, 0.0, 2.0 * np.pi / order]).as_matrix().T
    tree = cKDTree(points)
    apart, spacing = tree.query(turned)[0], tree.query(points, k=2)[0][:, 1]
    assert np.quantile(apart, 0.99) < 3.0 * np.quantile(spacing, 0.99)


def test_every_family_makes_points():
    for family in (*SYMMETRIC.values(), *ASYMMETRIC.values()):
        points = sampler(family(np.random.default_rng(0)))(100, np.random.default_rng(0))
        assert points.shape == (100, 3)
        assert np.isfinite(points).all()


def test_scans_fit_under_their_pose():
    for partial in (False, True):
        source, target, pose = ambiguity.scans(ASYMMETRIC["boxes"], 0, partial)
        apart = cKDTree(target).query(source @ pose[:3, :3].T + pose[:3, 3])[0]
        assert np.median(apart) < 0.05
        assert len(source) != len(target)


def test_it_counts(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ambiguity, "SYMMETRIC", {"box": SYMMETRIC["box"], "bumpy": ASYMMETRIC["bumpy"]})
    monkeypatch.setattr(ambiguity, "ASYMMETRIC", {"boxes": ASYMMETRIC["boxes"]})
    ambiguity.main(count=2, first=0, true_pose=True, threads=1, out=tmp_path)
    printed = capsys.readouterr().out
    # A shape among the symmetric ones that is not: it must be noticed.
    assert "symmetric: 1 of 2 called ambiguous" in printed
    assert "asymmetric: 0 of 2 called ambiguous" in printed
    assert "wrong: bumpy, seed 1: not called ambiguous" in printed
    cases = json.loads((tmp_path / "ambiguity.json").read_text(encoding="utf-8"))["cases"]
    assert [case["flagged"] for case in cases] == [True, False, False, False]
