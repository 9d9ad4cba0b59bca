"""The benchmark of the proof says what was proven."""

from __future__ import annotations

import json

import numpy as np

from benchmarks import proof
from tear3d.synthetic import make_problem


def test_a_quick_run_is_proven_and_written(tmp_path, capsys):
    proof.main(quick=True, threads=1, out=tmp_path)
    (row,) = json.loads((tmp_path / "proof.json").read_text())["synthetic"]
    assert row["closed"]
    assert row["gap"] <= proof.GAP
    assert np.isclose(row["units"], row["seconds"] / row["unit_seconds"])
    assert row["rotation_error"] < 1.0
    assert "<svg" in (tmp_path / "proof.svg").read_text()
    assert f"{row['units']:,.0f}" in capsys.readouterr().out


def test_real_pairs_that_are_not_closed_are_not_counted(tmp_path, capsys, monkeypatch):
    for seed, outlier_ratio in ((0, 0.5), (1, 0.99)):
        problem = make_problem(400, outlier_ratio, seed=seed)
        pair = {"src": problem.source, "dst": problem.target, "T_gt": problem.transformation}
        np.savez(tmp_path / f"pair{seed}.npz", xi=problem.noise_bound, **pair)
    monkeypatch.setattr(proof, "REAL_LIMIT", 1e-9)
    proof.main(only_real=True, data=tmp_path, threads=1, out=tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "proof.json").read_text())["real"]
    assert [row["closed"] for row in rows] == [False, False]
    assert "0 of 2 closed" in capsys.readouterr().out
