"""The table of `benchmarks.chance`: every kind of made-up problem has a row, and shares are shares."""

from typer import Typer
from typer.testing import CliRunner

from benchmarks import chance, nothing


def test_every_kind_has_a_row():
    app = Typer()
    app.command()(chance.main)
    result = CliRunner().invoke(app, ["--count", "2"], env={"COLUMNS": "140"})
    assert result.exit_code == 0


def test_rows_count_what_lies_below():
    row = chance._row("some", [-0.5, -2.5, -4.5, 1.0], 1)
    assert row == ["some", "4", "50.0 %", "50.0 %", "25.0 %", "25.0 %", "-4.5", "1"]


def test_problems_are_the_same_every_time():
    for kind in nothing.KINDS:
        first, again = (next(nothing.problems(kind, 1)) for _ in range(2))
        assert (first[0] == again[0]).all()
        assert (first[1] == again[1]).all()
        assert len(first[0]) == len(first[1])
