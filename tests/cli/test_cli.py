import errno
import json
import logging
import os
import subprocess
import sys
import time
from io import StringIO
from typing import get_args

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import tear3d
from tear3d.cli import app, session
from tear3d.cli.options import Cloud, Kind
from tear3d.cli.picture import braille
from tear3d.cli.progress import SearchBar
from tear3d.cli.render import _matrix
from tear3d.errors import InputError
from tear3d.io.pairs import read_pairs, write_pairs
from tear3d.io.poses import read_pose
from tear3d.metrics import rotation_error
from tear3d.problem.limits import Progress
from tear3d.prove.rowsolver import DOUBLE_LIMIT
from tear3d.result import Certificate, Result, StageCertificate
from tear3d.synthetic import OutlierKind, make_problem


class FakeSolver:
    """Stands in for `tear3d.register`: knows the answer, remembers how it was called."""

    def __init__(self, transformation=None, status="optimal"):
        self.transformation = np.eye(4) if transformation is None else transformation
        self.status = status
        self.calls = []

    def __call__(self, source, target, *, noise_bound, progress=None, **options):
        self.calls.append({"source": source, "target": target, "noise_bound": noise_bound, **options})
        closed = self.status == "optimal"
        bound, end = (10.005, "gap") if closed else (13.0, "time_limit")
        stages = tuple(
            StageCertificate(name, 90.0, 100.0 - bound, 10.0, bound, 1234, closed, end) for name in ("row 1", "row 2")
        )
        for stage in stages if progress is not None else ():
            progress(Progress(stage.name, stage.saving, float("inf"), 1, 0.1))
            progress(Progress(stage.name, stage.saving, stage.saving_bound, stage.cells, 0.2))
        pose = self.transformation
        residuals = np.linalg.norm(target - source @ pose[:3, :3].T - pose[:3, 3], axis=1)
        mask = residuals <= noise_bound
        return Result(
            transformation=pose,
            inlier_mask=mask,
            inlier_rmse=float(np.sqrt(np.mean(residuals[mask] ** 2))) if mask.any() else float("nan"),
            objective=90.0,
            status=self.status,
            message="from the fake",
            certificate=Certificate(() if self.status == "uncertified" else stages),
            significance=-87.3,
            seconds={"row 1": 0.61, "row 2": 0.004},
        )


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def solver(monkeypatch):
    fake = FakeSolver()
    monkeypatch.setattr(tear3d, "register", fake, raising=False)
    monkeypatch.setattr(session.warmup, "is_cold", lambda: False)
    return fake


@pytest.fixture
def pairs_file(tmp_path):
    problem = make_problem(200, 0.5, rotation=np.eye(3), translation=[0, 0, 0])
    path = tmp_path / "pairs.npz"
    write_pairs(path, problem.source, problem.target, noise_bound=problem.noise_bound, weights=np.ones(200))
    return path


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
    }


def test_noise_bound_comes_from_the_file_or_is_asked_for(solver, pairs_file, tmp_path):
    run("register", pairs_file)
    assert solver.calls[0]["noise_bound"] == pytest.approx(0.0554)
    (tmp_path / "p.csv").write_text("1,2,3,4,5,6\n" * 4)
    failed = run("register", tmp_path / "p.csv", code=2)
    assert "pass --noise-bound" in failed.stderr
    assert len(solver.calls) == 1


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
        ("uncertified", 0, "without a proof"),
        ("time_limit", 3, "time limit"),
        ("node_limit", 3, "cell limit"),
        ("interrupted", 3, "interrupted"),
        ("no_consensus", 3, "no consensus"),
    ],
)
def test_every_status_has_its_exit_code_and_words(solver, pairs_file, status, code, words):
    solver.status = status
    assert words in run("register", pairs_file, code=code).stdout


def test_library_errors_become_one_line(monkeypatch, pairs_file):
    def refuse(*args, **kwargs):
        raise InputError("source has points\non one line")

    monkeypatch.setattr(tear3d, "register", refuse, raising=False)
    failed = run("register", pairs_file, "--quiet", code=2)
    assert failed.stderr == "error: source has points on one line\n"


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


def test_the_level_of_proof_reaches_the_solver(solver, pairs_file):
    for flags, level in (((), True), (("--no-certify",), False), (("--full",), "full")):
        run("register", pairs_file, "-q", *flags)
        assert solver.calls[-1]["certify"] == level


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


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_synth_writes_what_register_reads(solver, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    options = ["--pairs", 300, "--outliers", 0.9, "--cloud", "teapot", "--kind", "plane", "--seed", 3]
    output = run("synth", path, *options, "--noise", 0.02).stdout
    assert "300 pairs, 30 of them right" in output
    wanted = make_problem(300, 0.9, cloud="teapot", outliers="plane", seed=3, noise=0.02)
    pairs = read_pairs(path)
    np.testing.assert_array_equal(pairs.source, wanted.source)
    np.testing.assert_array_equal(pairs.target, wanted.target)
    if suffix == ".npz":
        with np.load(path) as file:
            np.testing.assert_array_equal(file["transformation"], wanted.transformation)
            np.testing.assert_array_equal(file["inlier_mask"], wanted.inlier_mask)
    next_command = output.partition("next: tear3d ")[2].split()
    run(*next_command)
    assert solver.calls[0]["noise_bound"] == pytest.approx(0.1108)


def test_synth_refuses_unknown_formats(tmp_path):
    assert "unknown suffix" in run("synth", tmp_path / "p.ply", code=2).stderr


def test_choices_are_those_of_the_library():
    assert [kind.value for kind in Kind] == list(get_args(OutlierKind))
    for cloud in Cloud:
        make_problem(5, 0.0, cloud=cloud.value)


def test_demo_compares_with_the_truth_and_writes_nothing(solver, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solver.transformation = make_problem(10_000, 0.95, cloud="teapot").transformation
    output = run("demo").stdout.replace("\u202f", " ")
    assert "rotation 0.000° off" in output
    assert "500 of 10 000 pairs" in output
    assert "those that agree" in output
    assert list(tmp_path.iterdir()) == []
    run("demo", "--pairs", 500, "--out", "r.json", code=0)
    assert json.loads((tmp_path / "r.json").read_text())["num_pairs"] == 500


def test_demo_writes_its_report_where_told_and_says_so(solver, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = run("demo", "--pairs", 300, "--report", "out/demo.html").stdout
    assert "wrote out/demo.html" in output
    page = (tmp_path / "out" / "demo.html").read_text("utf-8")
    assert "A teapot, 95 % of its matches wrong" in page


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


def test_warnings_of_the_library_are_shown_unless_quiet(solver, pairs_file, monkeypatch):
    def warn(*args, **kwargs):
        logging.getLogger("tear3d.some.part").warning("odd input")
        return FakeSolver()(*args, **kwargs)

    monkeypatch.setattr(tear3d, "register", warn, raising=False)
    assert "warning: odd input" in run("register", pairs_file).stderr
    assert run("register", pairs_file, "--quiet").stderr == ""
    assert logging.getLogger("tear3d").handlers == []


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


def test_the_pose_is_readable_at_every_scale():
    pose = np.eye(4)
    for shift, shown in ((500_000.123, "500000.123"), (1.25e-5, "0.00001250000"), (0.0, "0.000000")):
        pose[0, 3] = shift
        lines = _matrix(pose).splitlines()
        assert lines[0].endswith(shown)
        assert len({len(line) for line in lines}) == 1


def test_a_real_run_from_synth_to_report(tmp_path):
    run("synth", tmp_path / "p.npz", "--pairs", 1000, "--outliers", 0.8, "--seed", 2)
    output = run("register", tmp_path / "p.npz", "--out", tmp_path / "run").stdout
    assert "proven optimal" in output
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    with np.load(tmp_path / "p.npz") as file:
        assert rotation_error(np.array(result["transformation"]), file["transformation"]) < 1.0
    assert "candidate saves" in (tmp_path / "run" / "run.log").read_text()
    assert run("register", tmp_path / "p.npz", "--time-limit", 0, "--quiet", code=3).output == ""


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


def tear3d_command(*arguments):
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-c", "from tear3d.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )


def test_help_is_fast_and_imports_nothing_heavy():
    started = time.perf_counter()
    finished = tear3d_command("--help")
    assert finished.returncode == 0
    assert "tear3d register pairs.npz" in finished.stdout
    assert time.perf_counter() - started < 3.0  # a third of a second on an idle machine
    code = "import sys, tear3d.cli; print({'numpy', 'numba', 'scipy'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


@pytest.mark.parametrize("arguments", [("register", "none.npz"), ("register", "none.xyz")])
def test_bad_input_in_a_real_process(arguments):
    finished = tear3d_command(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("error: none.")
    assert finished.stderr.count("\n") == 1


def test_version():
    assert run("--version").stdout == f"tear3d {tear3d.__version__}\n"
