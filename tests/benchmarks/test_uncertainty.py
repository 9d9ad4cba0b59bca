"""The table of covariances and errors."""

import json

import numpy as np
import pytest

from benchmarks import uncertainty
from benchmarks.uncertainty import Row
from tear3d import register
from tear3d.synthetic import make_problem


def test_the_table_has_what_was_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(uncertainty, "ROWS", (Row(100, 0.5), Row(60, 1.0)))
    monkeypatch.setattr(uncertainty, "squares", lambda row, seeds: [4.0, 8.0, *([float("inf")] * (row.n == 60))])
    uncertainty.main(seeds=3, only="", data=None, out=tmp_path)
    assert "6.00 ± 1.41" in capsys.readouterr().out
    rows = json.loads((tmp_path / "uncertainty.json").read_text())["rows"]
    assert [row["without"] for row in rows] == [0, 1]
    assert rows[1]["mean"] == 6.0


def test_errors_are_compared_with_covariances():
    found = uncertainty.squares(Row(100, 0.3), range(5))
    assert 1.0 < sum(found) / 5 < 20.0
    assert uncertainty.squares(Row(60, 1.0), range(1)) == [float("inf")]


def test_real_pairs_are_grouped_by_the_first_word_of_their_names(tmp_path, capsys):
    for seed, name in enumerate(["one_a", "one_b", "two_a", "two_wrong"]):
        p = make_problem(100, 0.3, seed=seed)
        truth = np.eye(4) if name == "two_wrong" else p.transformation
        np.savez(tmp_path / f"{name}.npz", src=p.source, dst=p.target, T_gt=truth, xi=p.noise_bound)
    uncertainty.main(seeds=2, only="", data=tmp_path, out=tmp_path)
    assert "root mean square" in capsys.readouterr().out
    rows = json.loads((tmp_path / "uncertainty-real.json").read_text())["rows"]
    assert [(row["data"], row["poses"], row["without"]) for row in rows] == [("one", 2, 0), ("two", 1, 0)]
    assert 0.3 < rows[0]["median"] <= rows[0]["rms"] <= rows[0]["largest"] < 2.5


@pytest.mark.parametrize("shape", ["laplace", "uniform"])
def test_noise_of_another_shape_has_the_same_variance(shape):
    p = make_problem(5000, 0.5, noise=0.02, seed=0)
    target = uncertainty._target(p, Row(5000, 0.5, noise=0.02, shape=shape), 0)
    residuals = (target - p.source @ p.rotation.T - p.translation)[p.inlier_mask]
    assert residuals.std() == pytest.approx(0.02, rel=0.05)
    assert np.abs(residuals).max() < 0.035 if shape == "uniform" else np.abs(residuals).max() > 0.08
    assert np.array_equal(target[~p.inlier_mask], p.target[~p.inlier_mask])


def test_where_the_origin_lies_does_not_matter():
    p = make_problem(200, 0.3, seed=4)
    plain = uncertainty.square(register(p.source, p.target, noise_bound=p.noise_bound, certify=False), p.transformation)
    away = np.array([300.0, -200.0, 100.0])
    truth = p.transformation.copy()
    truth[:3, 3] -= truth[:3, :3] @ away
    moved = register(p.source + away, p.target, noise_bound=p.noise_bound, certify=False)
    assert uncertainty.square(moved, truth) == pytest.approx(plain, rel=0.05)
