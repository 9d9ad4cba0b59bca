"""What every command shares: errors in one line, warnings, and compiling when the cache is cold."""

import errno
import importlib
import logging
import sys

import pytest

import tear3d
from tear3d.cli import session
from tear3d.errors import InputError
from tear3d.prove.row.sharp import DOUBLE_LIMIT
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
    monkeypatch.setattr(session.warmup, "cold", list)
    monkeypatch.setattr(session.warmup, "compile_kernels", compiled.append)
    told = run("register", pairs_file).stderr
    assert f"once after installation; about {session.warmup.expected_seconds(compiled[0])} seconds" in told
    assert run("register", pairs_file, "--quiet", "--no-certify").stderr == ""
    assert compiled == [["votes", "slopes", "lengths", "pivots", "ascents"], ["pivots", "ascents"]]


def test_kernel_cache_is_found_where_numba_puts_it(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    needed = session.warmup.needed(clouds=True)
    assert session.warmup.cold(needed) == list(needed)
    for name in needed[1:]:
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{session.warmup.GROUPS[name].kernel}-1.py311.nbi").touch()
    assert session.warmup.cold(needed) == [needed[0]]


def test_every_group_is_known_by_a_kernel_that_exists():
    """One that was renamed would be compiled at every start."""
    for module in ("clouds.register", "clouds.turns", "prove.rows", "prove.whole"):
        importlib.import_module(f"tear3d.{module}")
    jitted = set()
    for module in list(sys.modules.values()):
        for name, value in vars(module).items() if module.__name__.startswith("tear3d.") else ():
            if getattr(value, "__module__", None) == module.__name__ and callable(value):
                jitted.add(f"{module.__name__.rpartition('.')[2]}.{name}")
    named = {group.kernel for group in session.warmup.GROUPS.values()} - {""}
    assert named <= jitted


def test_expected_seconds_are_shared_by_the_cores(monkeypatch):
    monkeypatch.setattr(session.warmup, "_cores", lambda: 2)
    seconds = [session.warmup.GROUPS[name].seconds for name in session.warmup.ANSWER]
    assert max(seconds) <= session.warmup.expected_seconds(session.warmup.ANSWER) < sum(seconds) + 5


def test_warmup_covers_both_precisions_every_loss_and_the_clouds(solver, monkeypatch):
    told = []

    def compile_here(group):
        if session.warmup.GROUPS[group].after:
            session.warmup.GROUPS[group].compile()
        told.append(group)
        return group, 0.0

    monkeypatch.setattr(session.warmup, "_compile", compile_here)
    assert "kernels are ready" in run("warmup").stdout
    assert sorted(told) == sorted(session.warmup.GROUPS)
    assert {call.get("loss", "tear") for call in solver.calls} == {"tear", "cm", "tls"}
    sizes = [len(call["source"]) for call in solver.calls if call.get("loss", "tear") == "tear"]
    assert max(sizes) > DOUBLE_LIMIT
