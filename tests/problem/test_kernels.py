"""Which kernels are in the cache, and compiling those that are not in other processes."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tear3d.problem import kernels

SLEEP, FAIL, SUCCEED = "import time; time.sleep(60)", "raise SystemExit(1)", ""


@pytest.fixture(autouse=True)
def nothing_settled(monkeypatch):
    monkeypatch.setattr(kernels, "_settled", set())


@pytest.fixture
def started(monkeypatch):
    """Processes that do as they are told, by group, instead of compiling."""
    todo, processes = {}, []

    def start(names):
        processes.append(subprocess.Popen([sys.executable, "-c", "\n".join(todo.get(name, SUCCEED) for name in names)]))
        return processes[-1]

    monkeypatch.setattr(kernels, "start", start)
    monkeypatch.setattr(kernels, "count_cores", lambda: 2)
    return SimpleNamespace(todo=todo, processes=processes)


def test_every_group_is_known_by_a_kernel_that_exists():
    """One that was renamed would be compiled at every start."""
    for group in kernels.GROUPS.values():
        assert not group.kernel or callable(getattr(importlib.import_module(f"tear3d.{group.module}"), group.kernel))


def test_groups_that_a_call_needs():
    assert kernels.needed(False) == ("pivots", "ascents")
    assert {"votes", "slopes", "lengths"} <= set(kernels.needed("pose")) == set(kernels.needed(True))
    assert {"confined votes", "confined slopes"} <= set(kernels.needed(prior=True)).difference(kernels.needed())
    assert not {"votes", "slopes", "lengths"} & set(kernels.needed(prior=True))
    assert "rows" in kernels.needed("rows")
    assert "votes" not in kernels.needed("rows")
    assert kernels.needed("rows", pairs=kernels.DOUBLE_LIMIT + 1) == kernels.needed(False)
    assert kernels.needed("rows", method="paper") == ("sweeps", "ascents")
    assert not {name for name in kernels.needed(clouds=True) if not kernels.GROUPS[name].kernel}
    assert set(kernels.needed(clouds=True)) - set(kernels.needed()) == {"clouds", "hubs"}
    assert "hubs" not in kernels.needed(False, clouds=True)


@pytest.fixture
def part(tmp_path, monkeypatch):
    """A module with a kernel, whose cache is the folder that it is in."""
    source = tmp_path / "part.py"
    source.touch()
    kernel = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)))
    module = SimpleNamespace(__name__="tear3d.part", __file__=str(source), kernel=kernel)
    monkeypatch.setattr(kernels, "import_module", lambda name: module)
    monkeypatch.setattr(kernels, "GROUPS", {"group": kernels.Group("part", "kernel", 1)})


@pytest.mark.usefixtures("part")
def test_cache_is_found_where_numba_puts_it(tmp_path):
    assert kernels.cold(["group"]) == ["group"]
    index = tmp_path / "part.kernel-12.py311.nbi"
    index.touch()
    os.utime(index, (1.0, 1.0))
    assert kernels.cold(["group"]) == ["group"]  # of an older version
    os.utime(index)
    assert kernels.cold(["group"]) == []
    index.unlink()
    assert kernels.cold(["group"]) == []  # asked once


@pytest.mark.usefixtures("part")
def test_what_numba_finds_is_not_asked_for_again(tmp_path, started):
    """It goes by what a source says: one that is written anew as it was is not compiled again."""
    index = tmp_path / "part.kernel-12.py311.nbi"
    index.touch()
    os.utime(index, (1.0, 1.0))
    assert kernels.cold(["group"]) == ["group"]
    started.todo["group"] = FAIL
    assert kernels.compile_groups(["group"]) == ["group"]
    kernels._settled.clear()
    assert kernels.cold(["group"]) == ["group"], "what failed is not there"
    started.todo["group"] = SUCCEED
    assert kernels.compile_groups(["group"]) == []
    kernels._settled.clear()
    assert kernels.cold(["group"]) == []


def test_plain_python_is_never_cold(monkeypatch):
    plain = SimpleNamespace(__name__="tear3d.part", **{group.kernel: print for group in kernels.GROUPS.values()})
    monkeypatch.setattr(kernels, "import_module", lambda name: plain)
    assert kernels.cold(kernels.needed(clouds=True)) == []


def test_expected_seconds_are_shared_by_the_cores(monkeypatch):
    monkeypatch.setattr(kernels, "count_cores", lambda: 2)
    monkeypatch.setattr(kernels, "slowness", lambda: 1.0)
    names = kernels.needed()
    seconds = [kernels.GROUPS[name].seconds for name in names]
    assert max(seconds) <= kernels.expected_seconds(names) - kernels.STARTUP <= (sum(seconds) + 1) / 2
    assert kernels.expected_seconds(names, 1) == sum(seconds)


def test_expected_seconds_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr(kernels, "slowness", lambda: 3.0)
    assert kernels.expected_seconds(["votes"], 1) == 3 * kernels.GROUPS["votes"].seconds
    monkeypatch.setattr(kernels, "slowness", lambda: 0.01)
    assert kernels.expected_seconds(["votes"], 1) == 1


@pytest.mark.parametrize("executable", ["", "/usr/bin/qgis", "C:/maya.exe"])
def test_programs_that_contain_python_compile_by_themselves(executable, monkeypatch):
    monkeypatch.setattr(kernels, "count_cores", lambda: 2)
    assert kernels.can_share()
    monkeypatch.setattr(sys, "executable", executable)
    assert not kernels.can_share()


def test_one_core_or_one_of_many_workers_compiles_by_itself(monkeypatch):
    monkeypatch.setattr(kernels, "count_cores", lambda: 1)
    assert not kernels.can_share()
    monkeypatch.setattr(kernels, "count_cores", lambda: 2)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: "somebody")
    assert not kernels.can_share()


def test_shares_of_the_cores_are_about_equal():
    shares = kernels._shares(kernels.needed(), 2)
    assert sorted(name for share in shares for name in share) == sorted(kernels.needed())
    first, second = (sum(kernels.GROUPS[name].seconds for name in share) for share in shares)
    assert abs(first - second) <= 0.2 * max(first, second)
    assert len(kernels._shares(kernels.needed(), 64)) == len(kernels.needed())
    assert ["all votes", "tallies"] in kernels._shares(kernels.WARMUP, 64)
    assert ["all rows", "sweeps"] in kernels._shares(kernels.WARMUP, 64)


def test_groups_that_fail_are_named_and_not_tried_again(started):
    names, told = ["slopes", "votes", "pivots"], []
    started.todo["votes"] = FAIL
    assert kernels.compile_groups(names, lambda *done: told.append(done)) == ["votes"]
    assert sorted(share for share, _ in told) == ["slopes, pivots", "votes"]
    assert kernels.cold(names) == []


def test_without_processes_all_groups_fail(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert kernels.compile_groups(["votes", "pivots"]) == ["votes", "pivots"]


def test_ctrl_c_ends_the_processes(started, monkeypatch):
    def interrupt(seconds):
        raise KeyboardInterrupt

    started.todo.update(votes=SLEEP, pivots=SLEEP)
    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kernels.compile_groups(["votes", "pivots"])
    assert len(started.processes) == 2
    assert all(process.poll() is not None for process in started.processes)


REGISTER = """
import tear3d
problem = tear3d.synthetic.make_problem(2000, outlier_ratio=0.9, seed=1)
tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
found = tear3d.register_clouds(tear3d.shapes.teapot(2000), tear3d.shapes.teapot(2000, seed=1), certify=False)
"""


@pytest.mark.slow
def test_another_interpreter_compiles_all_that_a_call_needs_into_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert kernels.compile_groups(kernels.needed(clouds=True)) == []
    assert any(tmp_path.rglob("lengths.find_followers-*.nbi"))
    run = subprocess.run([sys.executable, "-c", REGISTER], capture_output=True, text=True, check=True)
    assert "compiling" not in run.stderr
