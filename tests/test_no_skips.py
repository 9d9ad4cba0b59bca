"""The strict run of `make test-all`: a skip for want of real data is fine, any other is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NO_CHROMIUM, may_skip
from tests.real_data import MISSING

ROOT = Path(__file__).resolve().parents[1]


SKIPS = {
    "test_package.py": "def test_a(): pytest.importorskip('no_such_package')",
    "test_mark.py": "@pytest.mark.skip(reason='later')\ndef test_a(): pass",
    "test_module.py": "pytest.skip('not here', allow_module_level=True)",
}
DATA = {
    "test_data.py": f"def test_a(): pytest.skip('{MISSING}: set TEAR3D_DATA')",
    "test_known.py": "def test_a(): pytest.xfail('known')\n\ndef test_b(): pass",
}


def strict_run(folder: Path, files: dict[str, str], data: str | None = None) -> subprocess.CompletedProcess[str]:
    for name, body in files.items():
        (folder / name).write_text(f"import pytest\n\n{body}\n")
    environment = {name: value for name, value in os.environ.items() if name != "TEAR3D_DATA"}
    environment |= {"PYTHONPATH": str(ROOT)} | ({"TEAR3D_DATA": data} if data else {})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "--no-skips"]
    command += ["-p", "no:dash", "--rootdir", str(folder), str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_skips_are_a_failure_and_are_named(tmp_path):
    done = strict_run(tmp_path, SKIPS)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    _, found, listed = done.stdout.partition("skipped, but must run")
    assert found
    assert all(name in listed for name in SKIPS)


@pytest.mark.parametrize(("named", "code"), [(False, pytest.ExitCode.OK), (True, pytest.ExitCode.TESTS_FAILED)])
def test_real_data_may_be_missing_unless_its_folder_is_named(tmp_path, named, code):
    assert strict_run(tmp_path, DATA, data=str(tmp_path) if named else None).returncode == code


def test_chromium_may_be_missing_where_it_cannot_be_installed(monkeypatch):
    for user, installer, allowed in ((0, "apt-get", False), (0, None, True), (1000, "apt-get", True)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user, raising=False)
        monkeypatch.setattr("shutil.which", lambda _, installer=installer: installer)
        assert may_skip(NO_CHROMIUM) == allowed
