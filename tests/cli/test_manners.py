"""Small things that spoil a day: pipes, folders, wrong suffixes, narrow terminals, numbers that cannot be pasted."""

import dataclasses
import os
import subprocess
import sys
from io import StringIO

import numpy as np
import pytest
import typer
from rich.console import Console
from rich.padding import Padding

from tear3d.cli import app, saying
from tear3d.cli.app import app as typer_app
from tear3d.cli.folder import Run
from tear3d.cli.progress import SearchBar
from tear3d.cli.prose import Prose
from tear3d.cli.render import matrix, print_result
from tear3d.problem.limits import Progress
from tear3d.report import words
from tear3d.result import Certificate
from tests.cli.support import FakeSolver, run

COMMANDS = sorted(command.callback.__name__ for command in typer_app.registered_commands)


def ended_unheard(*arguments):
    """The exit code of a command whose reader leaves at once."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tear3d", *map(str, arguments)]
    finished = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writer)
    assert finished.stderr == ""
    return finished.returncode


def test_a_reader_that_leaves_changes_no_exit_code(tmp_path):
    assert ended_unheard("synth", tmp_path / "pairs.csv", "--pairs", 50) == 0
    assert (tmp_path / "pairs.csv").exists()
    assert ended_unheard("--help") == 0


@pytest.mark.parametrize("name", ["x.pdf", "x.png", "x"])
def test_a_report_that_is_no_page_is_refused_before_the_work(solver, pairs_file, tmp_path, name):
    failed = run("register", pairs_file, "--report", tmp_path / name, code=2)
    assert "ends in .html" in failed.stderr
    assert not solver.calls
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["x.pdf", "x.html", "x.npz", "x.PLY"])
@pytest.mark.parametrize("command", ["register", "align", "map", "batch"])
def test_a_folder_does_not_get_the_name_of_a_file(solver, aligner, pairs_file, files, tmp_path, name, command):
    inputs = {"register": [pairs_file], "align": files, "map": [tmp_path], "batch": [tmp_path]}[command]
    failed = run(command, *inputs, "--out", tmp_path / name, code=2)
    assert "--out writes a folder" in failed.stderr
    assert not solver.calls
    assert not (tmp_path / name).exists()


def test_a_folder_is_called_a_folder(solver, aligner, pairs_file, files, tmp_path):
    for arguments in (
        ("register", tmp_path),
        ("align", tmp_path, files[1]),
        ("align", files[0], tmp_path),
        ("register", pairs_file, "--initial", tmp_path, "--within", "10,1"),
    ):
        assert f"{tmp_path}: is a folder; pass a file" in " ".join(run(*arguments, code=2).stderr.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_shows_flags_without_a_value(command, monkeypatch):
    options = typer.main.get_command(typer_app).commands[command].params
    names = [name for one in options if not getattr(one, "hidden", False) for name in one.opts if name[0] == "-"]
    assert names or command == "warmup"
    for columns in ("60", "79", "80", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = run(command, "--help").stdout
        assert "--help" in shown
        assert "bool" not in shown.lower()
        assert max(map(len, shown.splitlines())) <= int(columns)
        assert "…" not in shown
        for name in names:
            assert name in shown


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_lines_of_help_stay_in_one_piece_on_eighty_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = [line.strip() for line in run(*command.split(), "--help").stdout.splitlines()]
    one = typer.main.get_command(typer_app)
    one = one.commands[command] if command else one
    examples = [line.strip() for line in one.help.splitlines() if line.startswith("  tear3d ")]
    assert examples or command == "warmup"
    for example in examples:
        assert example in shown
    codes = [k for k, line in enumerate(shown) if line.startswith(("0  ", "2  ", "3  ", "130 "))]
    raw = run(*command.split(), "--help").stdout.splitlines()
    for k in codes:  # what goes on in a further line goes on below the words
        if shown[k + 1] and k + 1 not in codes:
            assert raw[k + 1].startswith(" " * 8)


def test_the_list_of_commands_is_plain_where_there_is_little_room(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("--help").stdout
    assert "╭" not in shown
    assert max(map(len, shown.splitlines())) <= 60
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_choices_are_refused_without_words_of_other_libraries(pairs_file):
    said = " ".join(run("register", pairs_file, "--loss", "foo", code=2).stderr.split())
    assert "'foo' is not one of 'tear', 'cm', 'tls'" in said
    assert "Value error" not in said


def test_examples_can_be_pasted_in_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("align", "--help").stdout
    words = shown.replace("\\\n", " ").splitlines()
    assert "tear3d align a.laz b.laz --voxel-size 0.5 --report report.html" in [
        " ".join(line.split()) for line in words
    ]


def test_what_was_written_is_named_without_breaking_a_name(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    folder = "a folder with a name that is longer than the whole of a narrow terminal"
    saying.wrote(folder, " (README.txt, aligned.ply, inliers.txt, pose.txt, report.html)")
    first, *others = capsys.readouterr().out.splitlines()
    assert first == f"wrote {folder}"
    assert " ".join(" ".join(others).split()) == "(README.txt, aligned.ply, inliers.txt, pose.txt, report.html)"
    assert all(line.startswith("  ") and len(line) <= 60 for line in others)


@pytest.mark.parametrize("width", range(8, 30))
def test_numbers_stay_with_their_units_and_in_one_piece(width):
    screen = StringIO()
    said = f"thinned to {words.count(2764)} and {words.count(5123456)}, {words.seconds(0.0123)}"
    Console(file=screen, width=width).print(Padding(Prose(said, style="bold"), 0))
    shown = screen.getvalue()
    assert "\ue000" not in shown
    assert "\ue001" not in shown
    for whole in ("2\u202f764", "12.3\u202fms", *(["5\u202f123\u202f456,"] if width >= 10 else [])):
        assert whole in shown


def narrow(result, width=60):
    screen = StringIO()
    pairs = np.zeros((len(result.inlier_mask), 3))
    print_result(Run(result, pairs, pairs, {}, "x"), console=Console(file=screen, width=width))
    return screen.getvalue()


@pytest.mark.parametrize("ended", ["gap", "resolution", "memory_limit"])
def test_sixty_columns_cut_neither_the_pose_nor_the_table(ended):
    pose = np.eye(4)
    pose[:3, 3] = -500_000.125, 5_000_000.5, 1e7
    result = FakeSolver(pose)(np.zeros((9, 3)), np.ones((9, 3)), noise_bound=1.0)
    stages = [
        dataclasses.replace(stage, name=name, saving=123456.7, saving_bound=7654321.0, cells=12_345_678, ended_by=ended)
        for stage, name in zip(result.certificate.stages, ("first row", "second row"), strict=True)
    ]
    shown = narrow(dataclasses.replace(result, certificate=Certificate.of(*stages)))
    assert "…" not in shown
    assert "-500000.125" in shown
    for line in matrix(pose).splitlines():
        assert line in shown
    for part in ("first row", "second row", "123457", "7654320", "12\u202f345\u202f678"):
        assert part in shown
    for word in words.ENDED_BY[ended].split():
        assert word in shown


def test_numbers_can_be_pasted():
    for value in (-0.5, -1234.5, 6.4e-05, -1e-9):
        assert float(words.number(value)) == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("gap", "shown"),
    [(9.99, "999\u202f%"), (10.0, "1000\u202f%"), (10.01, "11×"), (12345.0, "13000×"), (2e9, "2.0e+09×")],
)
def test_large_percentages_are_factors(gap, shown):
    assert words.percent(gap) == shown


def test_the_progress_bar_counts_large_gaps_in_factors():
    screen = StringIO()
    with SearchBar(1e-3, console=Console(file=screen, force_terminal=True, width=100)) as bar:
        bar(Progress("row 1", 10.0, 1250.0, 4321, 1.0))
        bar._bar.refresh()
    assert "gap 124×" in screen.getvalue()


def test_the_module_is_the_command():
    shown = subprocess.run([sys.executable, "-m", "tear3d", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == run("--version").stdout


def test_shell_completion_knows_the_commands():
    environment = {**os.environ, "_TEAR3D_COMPLETE": "complete_bash", "COMP_WORDS": "tear3d reg", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "tear3d"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert shown.stdout.split() == ["register"]
    assert app is typer_app
