"""The table of covariances and errors."""

import json

from benchmarks import uncertainty
from benchmarks.uncertainty import Row


def test_the_table_has_what_was_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(uncertainty, "ROWS", (Row(100, 0.5), Row(60, 1.0)))
    monkeypatch.setattr(uncertainty, "squares", lambda row, seeds: [4.0, 8.0, *([float("inf")] * (row.n == 60))])
    uncertainty.main(seeds=3, only="", out=tmp_path)
    assert "6.00 ± 1.41" in capsys.readouterr().out
    rows = json.loads((tmp_path / "uncertainty.json").read_text())["rows"]
    assert [row["without"] for row in rows] == [0, 1]
    assert rows[1]["mean"] == 6.0


def test_errors_are_compared_with_covariances():
    found = uncertainty.squares(Row(100, 0.3), range(5))
    assert 1.0 < sum(found) / 5 < 20.0
    assert uncertainty.squares(Row(60, 1.0), range(1)) == [float("inf")]
