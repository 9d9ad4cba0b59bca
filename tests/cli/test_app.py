"""The program as a whole, and what it draws in the terminal."""

import platform
import subprocess
import sys
import time
from importlib import metadata
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import tear3d
from tear3d.cli.picture import braille
from tear3d.cli.progress import SearchBar
from tear3d.cli.render import matrix
from tear3d.problem.limits import Progress
from tests.cli.support import run, tear3d_command


def test_the_pose_is_readable_at_every_scale():
    pose = np.eye(4)
    for shift, shown in ((500_000.123, "500000.123"), (1.25e-5, "0.00001250000"), (0.0, "0.000000")):
        pose[0, 3] = shift
        lines = matrix(pose).splitlines()
        assert lines[0].endswith(shown)
        assert len({len(line) for line in lines}) == 1


def test_progress_bar_shows_stage_gap_and_cells_and_fills_as_the_gap_closes():
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    filled = []
    with SearchBar(1e-3, console=console) as bar:
        for bound in (float("inf"), 20.0, 10.5, 10.1, 10.02):
            assert bar(Progress("row 1", 10.0, bound, 4321, 1.0)) is None
            filled.append(bar._bar.tasks[0].completed)
        bar._bar.refresh()
        bar(Progress("row 2", 10.0, 20.0, 5000, 2.0))
        assert bar._bar.tasks[0].completed == 0.0
        bar(Progress("match", 0.0, float("inf"), 0, 2.0))
        assert bar._bar.tasks[0].total is None
        bar(Progress("match", 0.0, float("inf"), 0, 2.5, 0.25))
        assert bar._bar.tasks[0].percentage == 25.0
        assert bar._bar.tasks[0].fields["state"] == ""
    assert filled == sorted(filled)
    assert filled[0] == filled[1] == 0.0
    assert 0.5 < filled[-1] < 1.0
    assert "row 1" in screen.getvalue()
    assert "gap 0.2 %" in screen.getvalue()
    assert "4,321 cells" in screen.getvalue()


def test_braille_sets_the_right_dots():
    corners = np.array([[0.0, 0.0], [3.999, 3.999]])
    low, high = np.zeros(2), np.full(2, 4.0)
    assert braille(corners, low, high, 2, 1) == "\u2840\u2808"
    assert braille(np.array([[9.0, 9.0], [-1.0, 0.0]]), low, high, 2, 1) == "\u2800\u2800"


@pytest.mark.clock
def test_help_is_fast_and_imports_nothing_heavy():
    started = time.perf_counter()
    finished = tear3d_command("--help")
    assert finished.returncode == 0
    assert "tear3d register pairs.npz" in finished.stdout
    assert time.perf_counter() - started < 3.0  # a third of a second on an idle machine
    code = "import sys, tear3d.cli; print({'numpy', 'numba', 'scipy'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


def test_version():
    first, *others = run("--version").stdout.splitlines()
    assert first == f"tear3d {tear3d.__version__}"
    found = dict(line.rsplit(" ", 1) for line in others[:-1])
    assert found["Python"] == platform.python_version()
    assert {name: found[name] for name in ("numpy", "scipy", "numba")} == {
        name: metadata.version(name) for name in ("numpy", "scipy", "numba")
    }
    assert others[-1] == f"{platform.system()} {platform.machine()}"
