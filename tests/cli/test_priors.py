"""What is known of a pose, on the command line."""

import json
import shlex

import numpy as np
import pytest

import tear3d
from tear3d.io.pairs import write_pairs
from tear3d.io.poses import write_pose
from tear3d.problem.turns import turn_about
from tests.cli.support import run

ABOUT_Z = turn_about(np.array([0.0, 0.0, 1.0]), 0.7)


@pytest.fixture(scope="module")
def upright(tmp_path_factory):
    folder = tmp_path_factory.mktemp("upright")
    problem = tear3d.synthetic.make_problem(400, 0.9, rotation=ABOUT_Z, seed=5)
    write_pairs(folder / "pairs.npz", problem.source, problem.target, noise_bound=problem.noise_bound)
    write_pose(folder / "near.txt", problem.transformation)
    return folder


@pytest.mark.parametrize("axis", ["z", "Z", "0,0,1", "0 0 2"])
def test_an_axis_by_name_or_numbers(solver, pairs_file, axis):
    run("register", pairs_file, "--rotation-axis", axis, "--axis-tolerance", 2, "--planar", "--plane-tolerance", 0.1)
    (call,) = solver.calls
    assert np.array(call["rotation_axis"])[2] > 0.0
    assert (call["axis_tolerance"], call["planar"], call["plane_tolerance"]) == (2.0, True, 0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rotation-axis", "up"), "expected x, y, z"),
        (("--rotation-axis", "0,0"), "expected x, y, z"),
        (("--within", "10"), "degrees and a distance"),
        (("--noise-bound", "some"), "neither a number nor 'auto'"),
        (("--scale-range", "1"), "lowest and the highest"),
    ],
)
def test_what_cannot_be_read_is_refused(pairs_file, options, words):
    found = run("register", pairs_file, *options, code=2)
    assert words in " ".join(found.output.replace("│", " ").split())


def test_the_words_and_the_command_to_repeat(upright):
    printed = run(
        *("register", upright / "pairs.npz", "--rotation-axis", "z", "--initial", upright / "near.txt"),
        *("--within", "10,0.5", "--json", "--out", upright / "out"),
    )
    found = json.loads(printed.stdout)
    assert found["status"] == "optimal"
    scope = "that turn about the given axis (0, 0, 1) and within 10° and 0.5 in translation of the initial one"
    assert found["certificate"]["scope"] == scope
    assert found["message"].startswith(f"of the poses {scope} none saves more")
    settings = json.loads((upright / "out" / "settings.json").read_text("utf-8"))
    command = shlex.split(settings["command_line"])
    again = run(*command[1:], "--json")
    assert json.loads(again.stdout)["transformation"] == found["transformation"]


def test_clouds_take_the_same(aligner, files, upright):
    run("align", *files, "--rotation-axis", "y", "--initial", upright / "near.txt", "--within", "5,1")
    (call,) = aligner.calls
    assert call["rotation_axis"] == (0.0, 1.0, 0.0)
    assert call["within"] == (5.0, 1.0)
    assert np.shape(call["initial"]) == (4, 4)


@pytest.mark.parametrize(("text", "scope"), [("none,0.5", "within 0.5 in translation"), ("10,None", "within 10° of")])
def test_one_side_of_a_prior_can_be_left_open(upright, text, scope):
    done = run("register", upright / "pairs.npz", "--initial", upright / "near.txt", "--within", text, "--json")
    assert scope in json.loads(done.output)["certificate"]["scope"]
