"""What every command shares: errors in one line, warnings, and compiling when the cache is cold."""

import errno
import logging

import pytest

import tear3d
from tear3d.cli import session
from tear3d.cli.kernels import RECIPES
from tear3d.errors import InputError
from tear3d.problem.kernels import DOUBLE_LIMIT
from tear3d.prove.row import solve
from tests.cli.support import FakeSolver, run, tear3d_command


def test_library_errors_become_one_line(monkeypatch, pairs_file):
    def refuse(*args, **kwargs):
        raise InputError("source has points\non one line")

    monkeypatch.setattr(tear3d, "register", refuse, raising=False)
    failed = run("register", pairs_file, "--quiet", code=2)
    assert failed.stderr == "error: source has points on one line\n"


def test_an_interrupt_before_there_is_a_result(monkeypatch, pairs_file, tmp_path):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(tear3d, "register", interrupt, raising=False)
    failed = run("register", pairs_file, "--quiet", "--out", tmp_path / "run", code=130)
    assert failed.stderr == "error: interrupted before there was a result; nothing was written\n"
    assert not (tmp_path / "run").exists()


def test_a_full_disk_is_one_line(monkeypatch, pairs_file):
    def fill(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tear3d, "register", fill, raising=False)
    assert run("register", pairs_file, "-q", code=2).stderr == "error: No space left on device\n"


@pytest.mark.parametrize("arguments", [("register", "none.npz"), ("register", "none.xyz")])
def test_bad_input_in_a_real_process(arguments):
    finished = tear3d_command(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("error: none.")
    assert finished.stderr.count("\n") == 1


def test_warnings_of_the_library_are_shown_unless_quiet(solver, pairs_file, monkeypatch):
    def warn(*args, **kwargs):
        logging.getLogger("tear3d.some.part").warning("odd input")
        return FakeSolver()(*args, **kwargs)

    monkeypatch.setattr(tear3d, "register", warn, raising=False)
    assert "warning: odd input" in run("register", pairs_file).stderr
    assert run("register", pairs_file, "--quiet").stderr == ""
    assert logging.getLogger("tear3d").handlers == []


def test_cold_kernels_are_announced_on_stderr_and_compiled_as_needed(solver, pairs_file, monkeypatch):
    compiled = []
    monkeypatch.setattr(session.kernels, "cold", list)
    monkeypatch.setattr(session.kernels, "can_share", lambda: True)
    monkeypatch.setattr(session.kernels, "compile_groups", lambda names: compiled.append(list(names)))
    told = run("register", pairs_file).stderr
    assert f"once after installation; about {session.kernels.expected_seconds(compiled[0])} seconds" in told
    assert run("register", pairs_file, "--quiet", "--no-certify").stderr == ""
    assert run("register", pairs_file, "--quiet", "--certify", "rows").stderr == ""
    answer = ["pivots", "ascents"]
    assert compiled == [["votes", "slopes", "lengths", *answer], answer, ["rows", *answer]]


def test_where_no_process_can_be_started_the_library_compiles(solver, pairs_file, monkeypatch):
    monkeypatch.setattr(session.kernels, "cold", list)
    monkeypatch.setattr(session.kernels, "can_share", lambda: False)
    assert "compiling" not in run("register", pairs_file).stderr
    assert len(solver.calls) == 1


@pytest.mark.parametrize("again", [True, False])
def test_warmup_says_ready_only_of_what_is(monkeypatch, again):
    """What failed in another process is compiled in this one, and says why if it fails once more."""

    def compile_it():
        if not again:
            raise InputError("no compiler")

    monkeypatch.setattr("tear3d.problem.kernels.compile_groups", lambda *_: ["lengths"])
    monkeypatch.setitem(RECIPES, "lengths", compile_it)
    result = run("warmup", code=0 if again else 2)
    assert "lengths: that failed" in result.stderr
    assert ("kernels are ready" in result.stdout) == again
    assert again or "no compiler" in result.stderr


def test_warmup_covers_both_precisions_every_loss_and_the_clouds(monkeypatch):
    told, rows = [], []

    class Done:
        returncode = 0

        def __init__(self, names):
            for name in {"all rows", "sweeps"} & set(names):
                RECIPES[name]()
            told.extend(names)

        def poll(self):
            return self.returncode

    def solve_row(problem, row, options, *given):
        rows.append((len(problem.source) > DOUBLE_LIMIT, options.bounds, options.loss, problem.across is not None))

    monkeypatch.setattr(session.kernels, "start", Done)
    monkeypatch.setattr(solve, "solve_row", solve_row)
    assert "kernels are ready" in run("warmup").stdout
    parts = [
        "rows",
        "votes",
        "slopes",
        "confined votes",
        "confined slopes",
        "pivots",
        "upright",
        "hubs",
        "confined hubs",
    ]  # of all of each
    assert sorted([*parts, *told]) == sorted(session.kernels.GROUPS) == sorted(RECIPES)
    assert {(False, "sharp", "tear", False), (True, "sharp", "tear", False)} < set(rows)
    assert {loss for *_, loss, _ in rows} == {"tear", "cm", "tls"}
    assert {bounds for _, bounds, *_ in rows} == {"sharp", "sweep", "paper"}
    assert {across for *_, across in rows} == {False, True}
