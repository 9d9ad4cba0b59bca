"""`tear3d register`: what it prints, passes on and writes, and how it ends."""

import json
from pathlib import Path

import numpy as np
import pytest

from tear3d.cli.options import as_bytes
from tear3d.io.pairs import read_pairs, write_pairs
from tear3d.io.poses import read_pose
from tear3d.lab.synthetic import make_problem
from tear3d.metrics import rotation_error
from tests.cli.support import NOTHING_KNOWN, run


def test_register_prints_a_summary(solver, pairs_file):
    output = run("register", pairs_file).stdout
    assert "proven optimal" in output
    assert "100 of 200 pairs" in output
    assert "0.05 %" in output.replace("\u202f", " ")
    assert "1.000000" in output
    assert "row 2" in output


def test_options_reach_the_solver(solver, pairs_file):
    run(
        *(
            "register",
            pairs_file,
            "--noise-bound",
            0.25,
            "--loss",
            "tls",
            "--time-limit",
            9,
            "--node-limit",
            50,
        ),
        *("--rel-gap", 0.01, "--threads", 1, "--seed", 4, "--no-certify", "--bounds", "sweep", "--quiet"),
        *("--memory-limit", "1.5GiB", "--checkpoint", "proof.npz"),
    )
    (call,) = solver.calls
    np.testing.assert_array_equal(call.pop("source"), read_pairs(pairs_file).source)
    np.testing.assert_array_equal(call.pop("target"), read_pairs(pairs_file).target)
    np.testing.assert_array_equal(call.pop("weights"), np.ones(200))
    assert call == {
        "noise_bound": 0.25,
        "loss": "tls",
        "time_limit": 9.0,
        "node_limit": 50,
        "rel_gap": 0.01,
        "threads": 1,
        "seed": 4,
        "certify": False,
        "bounds": "sweep",
        "method": "tear3d",
        "memory_limit": 3 << 29,
        "checkpoint": Path("proof.npz"),
        **NOTHING_KNOWN,
        "estimate_scale": False,
        "scale_range": None,
        "max_instances": 1,
    }


@pytest.mark.parametrize(("text", "bytes_"), [("1000", 1000), ("512M", 1 << 29), ("2g", 2 << 30), ("0.5 GB", 1 << 29)])
def test_bytes(text, bytes_):
    assert as_bytes(text) == bytes_


def test_bytes_that_are_none(pairs_file):
    assert "something like 512M" in run("register", pairs_file, "--memory-limit", "much", code=2).stderr
    assert "at least 134217728" in run("register", pairs_file, "--memory-limit", "1k", code=2).stderr


def test_a_file_larger_than_its_limit(tmp_path):
    """Read in passes, from the command line too."""
    given = make_problem(1_500_000, outlier_ratio=0.9, cloud="ellipsoid", seed=0)
    write_pairs(tmp_path / "pairs.npy", given.source, given.target)
    name = tmp_path / "pairs.npy"
    done = run("register", name, "-n", given.noise_bound, "--certify", "none", "--memory-limit", "128M", "--json")
    found = json.loads(done.stdout)
    assert "first look" in found["seconds"]
    assert rotation_error(np.array(found["transformation"]), given.transformation) < 0.1


def test_noise_bound_comes_from_the_command_the_file_or_the_pairs(solver, pairs_file, tmp_path):
    write_pairs(tmp_path / "p.csv", read_pairs(pairs_file).source, read_pairs(pairs_file).target)
    cases = [(pairs_file, (), 0.0554), (pairs_file, ("-n", "auto"), "auto"), (pairs_file, ("-n", 0.0), 0.0)]
    for file, flags, bound in [*cases, (tmp_path / "p.csv", (), "auto"), (tmp_path / "p.csv", ("-n", 0.1), 0.1)]:
        run("register", file, "-q", *flags)
        assert solver.calls[-1]["noise_bound"] == (bound if bound == "auto" else pytest.approx(bound))


@pytest.mark.parametrize("flags", [(), ("--noise-bound", "auto")])
def test_a_scale_needs_no_noise_bound(flags, tmp_path):
    given = make_problem(500, 0.8, scale=2.5, seed=1)
    write_pairs(tmp_path / "p.csv", given.source, given.target)
    done = run("register", tmp_path / "p.csv", "--scale", *flags, "--certify", "none", "--json", "-o", tmp_path / "out")
    found = json.loads(done.stdout)
    assert found["success"]
    assert found["scale"] == pytest.approx(2.5, rel=0.02)
    noise = found["noise"]
    assert noise["noise_bound"] == pytest.approx(given.noise_bound, rel=0.2)
    assert noise["low"] < given.noise_bound < noise["high"]
    assert noise["sentence"] in found["message"]
    assert noise["curve"][-1]["noise_bound"] == pytest.approx(10.0 * noise["noise_bound"])
    assert '<section id="noise">' in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_the_level_of_proof_reaches_the_solver(solver, pairs_file):
    cases = {
        (): True,
        ("--certify", "pose"): "pose",
        ("--certify", "rows"): "rows",
        ("--certify", "none"): False,
        ("--no-certify",): False,
        ("--full",): "pose",
        ("--full", "--certify", "pose"): "pose",
        ("--no-certify", "--certify", "none"): False,
    }
    for flags, level in cases.items():
        run("register", pairs_file, "-q", *flags)
        assert solver.calls[-1]["certify"] == level


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--full", "--no-certify"), "--full and --no-certify contradict"),
        (("--certify", "rows", "--full"), "--certify rows and --full contradict"),
        (("--certify", "pose", "--no-certify"), "--certify pose and --no-certify contradict"),
        (("--certify", "none", "--full"), "--certify none and --full contradict"),
        (("--certify", "everything"), "everything"),
    ],
)
def test_contradictions_are_refused_before_any_work(solver, pairs_file, flags, words):
    assert words in run("register", pairs_file, *flags, code=2).output
    assert not solver.calls


def test_the_papers_method(pairs_file, tmp_path):
    """By the library itself: its result, how to do it again, and what it refuses."""
    # The branch resolution ends it: not proven.
    run("register", pairs_file, "--method", "paper", "-o", tmp_path / "out", "-q", code=3)
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert "--method paper" in settings["command_line"]
    printed = json.loads((tmp_path / "out" / "result.json").read_text())
    assert printed["settings"]["method"] == "paper"
    assert "branch resolution" in printed["message"]
    closed = run("register", pairs_file, "--method", "paper", "--rel-gap", 0.05)
    assert "gap closed" in closed.output
    for flags in (("--certify", "pose"), ("--no-certify",), ("--threads", 2)):
        assert "--method paper" in run("register", pairs_file, "--method", "paper", *flags, code=2).stderr


@pytest.mark.parametrize(
    ("given", "passed"), [((), "auto"), (("--time-limit", "none"), None), (("--time-limit", 0), 0.0)]
)
def test_the_time_limit_can_be_none(solver, pairs_file, given, passed):
    run("register", pairs_file, "-q", *given)
    assert solver.calls[-1]["time_limit"] == passed


@pytest.mark.parametrize("text", ["soon", "-1", "nan", ""])
def test_a_time_limit_that_is_none_is_named(solver, pairs_file, text):
    assert "neither a number of seconds" in run("register", pairs_file, "--time-limit", text, code=2).output
    assert not solver.calls


def test_a_proven_pose_is_printed_with_what_any_other_can_save(solver, pairs_file):
    solver.elsewhere = 6.2
    output = " ".join(run("register", pairs_file).stdout.replace("\u202f", " ").replace("│", " ").split())
    assert "No rotation and translation saves more than 0.05 % beyond this one, and none elsewhere" in output
    assert "any other pose no pose that puts a point more than 3 noise bounds elsewhere saves more than 62 %" in output
    assert "first row" not in output
    found = json.loads(run("register", pairs_file, "--json").stdout)["certificate"]
    assert found["runner_up"] == pytest.approx(0.62)
    assert found["stages"][0]["elsewhere"] == 6.2


def test_json_on_stdout_is_pure_and_equals_the_file(solver, pairs_file, tmp_path):
    out = tmp_path / "result.json"
    printed = run("register", pairs_file, "--json", "--out", out)
    result = json.loads(printed.stdout)
    assert result == json.loads(out.read_text())
    assert result["status"] == "optimal"
    assert result["num_inliers"] == 100
    assert result["certificate"]["closed"] is True


def test_quiet_prints_nothing_but_writes_the_file(solver, pairs_file, tmp_path):
    printed = run("register", pairs_file, "-q", "-o", tmp_path / "r.json")
    assert printed.output == ""
    assert (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        ("optimal", 0, "proven optimal"),
        ("uncertified", 3, "without a proof"),
        ("time_limit", 3, "time limit"),
        ("node_limit", 3, "cell limit"),
        ("interrupted", 3, "interrupted"),
        ("no_consensus", 3, "no consensus"),
    ],
)
def test_every_status_has_its_exit_code_and_words(solver, pairs_file, status, code, words):
    solver.status = status
    assert words in run("register", pairs_file, code=code).stdout


def test_no_proof_is_no_failure_when_none_was_asked_for(solver, pairs_file):
    solver.status = "uncertified"
    assert "without a proof" in run("register", pairs_file, "--no-certify").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "{tmp}/file/r.json"), "is not a folder"),
        (("--out", "{tmp}/folder.json"), "is a folder"),
        (("--report", "{tmp}/full"), "is a folder"),
        (("--out", "{tmp}/file"), "pass the name of a folder"),
        (("--out", "{tmp}/full"), "holds notes.txt, not written by tear3d"),
        (("--out", "."), "current folder"),
        (("--pose", "{tmp}/pairs.npz"), "one of the inputs"),
        (("--pose", "{tmp}/a", "--report", "{tmp}/a"), "name of another output"),
        (("--out", "{tmp}/new", "--report", "{tmp}/new/r.html"), "replaces as a whole"),
    ],
)
def test_an_impossible_output_is_refused_before_the_work(solver, pairs_file, tmp_path, options, message):
    (tmp_path / "file").touch()
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    failed = run("register", pairs_file, *(text.format(tmp=tmp_path) for text in options), code=2)
    assert message in failed.stderr
    assert solver.calls == []
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine"


def test_missing_folders_are_made(solver, pairs_file, tmp_path):
    run(
        "register",
        pairs_file,
        "--out",
        tmp_path / "a" / "r.json",
        "--pose",
        tmp_path / "b" / "c" / "pose.txt",
    )
    assert json.loads((tmp_path / "a" / "r.json").read_text())["status"] == "optimal"
    np.testing.assert_array_equal(read_pose(tmp_path / "b" / "c" / "pose.txt"), solver.transformation)


def test_register_compares_with_the_truth_in_the_file(solver, tmp_path):
    path = tmp_path / "p.npz"
    run("synth", path, "--pairs", 300, "--outliers", 0.5)
    with np.load(path) as file:
        solver.transformation, arrays = file["transformation"], dict(file)
    output = run("register", path).stdout
    assert "rotation 0.000° off" in output
    assert "100.0 % of the right pairs found" in output

    arrays["T_gt"] = arrays.pop("transformation")
    del arrays["inlier_mask"]
    np.savez(path, **arrays)
    output = run("register", path).stdout
    assert "rotation 0.000° off" in output
    assert "right pairs found" not in output

    np.savez(path, **(arrays | {"T_gt": np.eye(3)}))
    result = run("register", path)
    assert "T_gt is not a 4×4 pose" in result.stderr
    assert "off" not in result.stdout


def test_a_real_run_from_synth_to_report(tmp_path):
    run("synth", tmp_path / "p.npz", "--pairs", 1000, "--outliers", 0.8, "--seed", 2)
    output = run("register", tmp_path / "p.npz", "--out", tmp_path / "run").stdout
    assert "proven optimal" in output
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    with np.load(tmp_path / "p.npz") as file:
        assert rotation_error(np.array(result["transformation"]), file["transformation"]) < 1.0
    assert "candidate saves" in (tmp_path / "run" / "run.log").read_text()
    assert run("register", tmp_path / "p.npz", "--time-limit", 0, "--quiet", code=3).output == ""
