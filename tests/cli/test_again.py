"""The command and the call that the report gives do the same again."""

import html
import json
import re
import shlex

import numpy as np
import pytest

from tests.cli.support import run


def told(page):
    """The command line and the Python code of a report."""
    blocks = re.findall(r"<h3>(?:On the command line|In Python)</h3><pre>(.*?)</pre>", page.read_text("utf-8"), re.S)
    return [html.unescape(block) for block in blocks]


def test_options_that_matter_are_in_the_command(solver, pairs_file, tmp_path):
    page = tmp_path / "my page.html"
    options = ("--loss", "tls", "--time-limit", 5, "--no-certify", "--noise-bound", 0.25)
    solver.status = "uncertified"
    run("register", pairs_file, *options, "--report", page, "--quiet")
    command, code = told(page)
    assert shlex.split(command)[:3] == ["tear3d", "register", str(pairs_file)]
    assert "--seed 0" in command
    assert "--report" not in command
    again = tmp_path / "again.html"
    run(*shlex.split(command)[1:], "--report", again, "--quiet")
    first, second = ({k: v for k, v in call.items() if k not in ("source", "target")} for call in solver.calls)
    np.testing.assert_array_equal(first.pop("weights"), second.pop("weights"))
    assert first == second
    assert told(again) == [command, code]
    assert "noise_bound=0.25" in code
    assert "time_limit=5.0" in code
    assert "certify=False" in code


@pytest.mark.parametrize(
    ("options", "words", "python"),
    [
        ((), [], ""),
        (("--certify", "rows", "--time-limit", "none"), ["--time-limit none", "--certify rows"], "time_limit=None"),
        (("--certify", "rows", "--bounds", "sweep"), ["--bounds sweep", "--certify rows"], "certify='rows'"),
        (("--certify", "none"), ["--certify none"], "certify=False"),
        (("--full", "--rel-gap", 0.02), ["--full", "--rel-gap 0.02"], "rel_gap=0.02"),
    ],
)
def test_the_kind_of_proof_and_its_limit_come_back(solver, pairs_file, tmp_path, options, words, python):
    page, again = tmp_path / "r.html", tmp_path / "again.html"
    run("register", pairs_file, *options, "--report", page, "--quiet")
    command, code = told(page)
    assert all(word in command for word in words)
    assert python in code
    assert ("certify" in command or "--full" in command) == bool(options)
    run(*shlex.split(command)[1:], "--report", again, "--quiet")
    exec(compile(code, "report", "exec"), {})
    first, second, third = solver.calls
    for name in ("certify", "time_limit", "rel_gap", "bounds"):
        assert first[name] == second[name]
        assert third.get(name, first[name]) == first[name]
    assert told(again) == [command, code]


def test_the_python_code_runs_and_passes_the_same(solver, pairs_file, tmp_path):
    page = tmp_path / "r.html"
    run("register", pairs_file, "--seed", 3, "--report", page, "--quiet")
    exec(compile(told(page)[1], "report", "exec"), {})
    (first, second) = solver.calls
    assert (first["seed"], first["noise_bound"]) == (second["seed"], second["noise_bound"]) == (3, 0.055400000000000005)
    np.testing.assert_array_equal(first["source"], second["source"])
    np.testing.assert_array_equal(first["weights"], second["weights"])


def test_the_same_for_clouds_and_in_the_settings(aligner, files, tmp_path):
    run("align", *files, "--top-k", 3, "--refine", "none", "--mutual", "--out", tmp_path / "run", "--quiet")
    command, code = told(tmp_path / "run" / "report.html")
    assert command.endswith("--refine none --top-k 3 --mutual --seed 0")
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["command_line"] == command
    assert code.splitlines()[-1] == (
        "found = tear3d.register_clouds(source, target, refine=None, top_k=3, mutual=True, seed=0)"
    )
    assert "a.npy', keep_invalid=True)" in code
