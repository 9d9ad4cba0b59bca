"""What every command shares: errors in one line, warnings, and compiling when the cache is cold."""

import errno
import logging

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


def test_cold_kernels_are_announced_on_stderr(solver, pairs_file, monkeypatch):
    compiled = []
    monkeypatch.setattr(session.warmup, "is_cold", lambda: True)
    monkeypatch.setattr(session.warmup, "compile_kernels", lambda: compiled.append(True))
    assert "compiling kernels, once" in run("register", pairs_file).stderr
    assert run("register", pairs_file, "--quiet").stderr == ""
    assert len(compiled) == 2


def test_kernel_cache_is_found_where_numba_puts_it(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert session.warmup.is_cold()
    (tmp_path / "bounds_1234").mkdir()
    (tmp_path / "bounds_1234" / "subtree.search_subtree-1.py311.nbi").touch()
    assert not session.warmup.is_cold()


def test_warmup_covers_both_precisions_every_loss_and_the_clouds(solver, monkeypatch):
    clouds = []
    monkeypatch.setattr(tear3d, "register_clouds", lambda *a, **k: clouds.append(k), raising=False)
    told = []

    def compile_here(part):
        session.warmup.PARTS[part]()
        told.append(part)
        return part, 0.0

    monkeypatch.setattr(session.warmup, "_compile", compile_here)
    assert "kernels are ready" in run("warmup").stdout
    assert sorted(told) == sorted(session.warmup.PARTS)
    assert {call.get("loss", "tear") for call in solver.calls} == {"tear", "cm", "tls"}
    sizes = [len(call["source"]) for call in solver.calls if call.get("loss", "tear") == "tear"]
    assert min(sizes) <= DOUBLE_LIMIT < max(sizes)
    assert {call.get("keypoints") for call in clouds} == {None, "iss"}
