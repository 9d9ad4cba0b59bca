"""The README of an output folder, the schema of all JSON, and --verbose."""

import json

import pytest

from tear3d.cli import batch_rows
from tear3d.cli.readme import NAME, readme
from tests.cli.support import run


def test_the_readme_explains_every_file_of_a_run():
    names = ["README.txt", "aligned.ply", "inliers.txt", "pose.txt", "pose_2.txt", "report.html", "result.json"]
    names += ["run.log", "settings.json"]
    text = readme("align", names)
    assert [name for name in names if f"\n{name} " not in text] == [NAME]
    assert "`tear3d align`" in text
    assert max(map(len, text.splitlines())) <= 100
    assert text.isascii()


def test_names_that_are_not_known_are_left_out():
    assert "foreign" not in readme("align", ["foreign.txt", "pose.txt"])


def test_a_batch_has_the_schema_of_all():
    told = batch_rows.summary([], "tear3d batch", 1.0)
    assert list(told)[:2] == ["schema", "kind"]
    assert (told["schema"], told["kind"]) == (1, "batch")


def test_verbose_tells_the_steps_and_quiet_forbids_it(solver, pairs_file):
    assert "read pairs.npz: 0." in run("register", pairs_file, "--verbose").stderr
    assert "read pairs.npz" not in run("register", pairs_file).stderr
    assert json.loads(run("register", pairs_file, "--verbose", "--json").stdout)["schema"] == 1
    assert "contradict" in run("register", pairs_file, "--verbose", "--quiet", code=2).stderr


@pytest.mark.parametrize("command", ["info", "transform", "merge", "refine", "compare", "view", "map", "demo"])
def test_the_other_commands_have_it_too(command):
    assert "--verbose" in run(command, "--help").stdout
