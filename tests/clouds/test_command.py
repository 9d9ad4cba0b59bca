"""`tear3d align` when the call is stopped before there is a pose."""

import os
import signal

import pytest
from typer.testing import CliRunner

import tear3d
from tear3d.cli.app import app
from tests.bumpy import bumpy_cloud


@pytest.fixture
def files(tmp_path):
    names = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    for seed, name in enumerate(names):
        tear3d.write_cloud(name, bumpy_cloud(3000, seed))
    return names


@pytest.fixture(autouse=True)
def warm(monkeypatch):
    monkeypatch.setattr("tear3d.cli.align.compile_when_cold", lambda session, needed: None)


def test_a_time_limit_is_one_line_and_exit_code_3(files, tmp_path):
    out = tmp_path / "out"
    answer = CliRunner().invoke(app, ["align", *files, "--time-limit", "0", "--out", str(out)])
    assert answer.exit_code == 3
    assert answer.stderr.startswith("stopped: the time limit of 0 s was reached at the step 'downsample'")
    assert answer.stderr.count("\n") == 1
    assert not out.exists()


def test_ctrl_c_is_one_line_and_exit_code_130(files, monkeypatch):
    choose = tear3d.clouds.sizes.choose_voxels

    def interrupted(*clouds, tick):
        os.kill(os.getpid(), signal.SIGINT)
        return choose(*clouds, tick=tick)

    monkeypatch.setattr("tear3d.clouds.sizes.choose_voxels", interrupted)
    answer = CliRunner().invoke(app, ["align", *files])
    assert answer.exit_code == 130
    assert answer.stderr.startswith("stopped: interrupted at the step")
