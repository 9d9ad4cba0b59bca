"""What a type checker tells somebody who uses the library: misspelt names and wrong options, and nothing else."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tear3d

ROOT = Path(__file__).resolve().parents[1]
START = """\
import numpy as np

import tear3d

points = np.zeros((5, 3))
"""
RIGHT = """\
result = tear3d.register(points, points, noise_bound=0.1)
tear3d.register(points, points, noise_bound=np.full(5, 0.1), weights=np.ones(5), loss="tls", certify="full")
tear3d.register(points.tolist(), points, noise_bound=1, loss="cm", certify=False, bounds="sweep", time_limit=3)
pose: np.ndarray = result.transformation
status: str = result.status
problem = tear3d.synthetic.make_problem(100, 0.5)
error: float = tear3d.metrics.rotation_error(pose, problem.transformation)
"""
WRONG = {
    "a misspelt name": "tear3d.registr",
    "a misspelt module": "tear3d.metric.rotation_error",
    "a misspelt option": "tear3d.register(points, points, noise_bound=0.1, los='tls')",
    "a noise bound in words": "tear3d.register(points, points, noise_bound='x')",
    "an unknown loss": "tear3d.register(points, points, noise_bound=0.1, loss='foo')",
    "an unknown proof": "tear3d.register(points, points, noise_bound=0.1, certify='maybe')",
    "unknown bounds": "tear3d.register(points, points, noise_bound=0.1, bounds='loose')",
    "a misspelt field": "tear3d.register(points, points, noise_bound=0.1).transformatio",
}


def mypy(file: Path) -> dict[int, str]:
    """Errors of mypy by line."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--config-file=", "--ignore-missing-imports"]
    command += ["--follow-imports=silent", f"--cache-dir={file.parent / 'cache'}", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(rf"^{re.escape(str(file))}:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return {int(line): message for line, message in found}


def pyright(file: Path) -> dict[int, str]:
    """Errors of pyright by line, at the level that editors use."""
    settings = {"include": [file.name], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--project", str(file.parent)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {one["range"]["start"]["line"] + 1: one["message"] for one in found if one["severity"] == "error"}


@pytest.fixture(scope="module", params=[mypy, pyright], ids=["mypy", "pyright"])
def errors(request, tmp_path_factory):
    """What a checker says about the right lines, and about each of the wrong ones."""
    file = tmp_path_factory.mktemp("types") / "snippet.py"
    file.write_text(START + RIGHT + "".join(f"{line}\n" for line in WRONG.values()))
    found = request.param(file)
    first = (START + RIGHT).count("\n") + 1
    said = {name: found.get(line) for line, name in enumerate(WRONG, first)}
    return {line: message for line, message in found.items() if line < first}, said


def test_right_calls_pass(errors):
    complaints, _ = errors
    assert not complaints


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes_are_reported(errors, mistake):
    _, said = errors
    assert said[mistake] is not None


def test_the_lazy_names_are_those_that_checkers_see():
    tree = ast.parse((ROOT / "tear3d" / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) | {"__version__"} == set(tear3d.__all__) == set(dir(tear3d))
    for name, module in seen.items():
        wanted = importlib.import_module(f"tear3d.{name}" if module == "tear3d" else str(module))
        assert getattr(tear3d, name) is (wanted if module == "tear3d" else getattr(wanted, name))


def test_import_stays_light():
    code = "import sys, tear3d; print(sorted({'numpy', 'numba', 'scipy', 'rich', 'typer'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_a_misspelt_name_is_answered_with_the_right_one():
    with pytest.raises(AttributeError, match="no attribute 'registr'") as caught:
        tear3d.registr  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("registr", tear3d)
