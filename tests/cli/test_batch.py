"""`tear3d batch`: what it finds and writes, what it does again and what not, how it ends."""

from __future__ import annotations

import csv
import json
import signal
import time

import numpy as np
import pytest

import tear3d
from tear3d.io.pairs import write_pairs
from tests.cli import batches
from tests.cli.support import run
from tests.cli.test_batch_page import rows_on


def batch(manifest, out, *options, code=0):
    return run("batch", manifest, "--out", out, *batches.OPTIONS, *options, code=code)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "scans"
    batches.make_scans(folder, 4)
    return folder


@pytest.fixture(scope="module")
def survey(scans, tmp_path_factory):
    """A batch of these scans, and what it printed."""
    out = tmp_path_factory.mktemp("survey") / "out"
    return out, batch(scans, out)


def told(out):
    return json.loads((out / "summary.json").read_text())


def test_neighbours_are_registered_and_told(scans, survey):
    out, printed = survey
    summary = told(out)
    assert summary["complete"]
    assert summary["counts"]["registered"] == 3
    assert [row["name"] for row in summary["rows"]] == ["scan2--scan1", "scan3--scan2", "scan4--scan3"]
    assert "3 pairs: 3 registered" in printed.stdout
    assert "[3/3] scan4--scan3: confirmed" in printed.stderr
    for row in summary["rows"]:
        found = json.loads((out / row["file"]).read_text())
        assert row["success"]
        assert row["transformation"] == found["result"]["transformation"]
        assert found["options"] == {"certify": False, "refine": None, "voxel_size": 0.15}
        assert found["inputs"][0]["path"] == row["source"]
    clouds = [tear3d.read_cloud(scans / f"scan{k}.npy") for k in (2, 1)]
    expected = tear3d.register_clouds(*clouds, voxel_size=0.15, refine=None, certify=False)
    np.testing.assert_array_equal(summary["rows"][0]["transformation"], expected.transformation)
    with (out / "summary.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["verdict"] for row in table] == ["confirmed"] * 3
    assert [row["registered"] for row in table] == ["true"] * 3
    numbers = [float(word) for word in table[0]["transformation"].split()]
    np.testing.assert_array_equal(np.reshape(numbers, (4, 4)), expected.transformation)
    assert rows_on(out / "index.html") == ["scan2--scan1", "scan3--scan2", "scan4--scan3"]


def test_what_is_done_is_not_done_again_unless_something_changed(scans, survey, tmp_path):
    out, _ = survey
    before = batches.finished(out)
    printed = batch(scans, out)
    assert batches.finished(out) == before
    assert "3 of them were found by an earlier run" in printed.stdout
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for scan in scans.iterdir():
        (moved / scan.name).write_bytes(scan.read_bytes())
    assert json.loads(batch(moved, out, "--json", "--quiet").stdout)["counts"]["earlier"] == 3  # contents, not places
    np.save(moved / "scan4.npy", tear3d.read_cloud(moved / "scan4.npy") + 1.0)
    assert json.loads(batch(moved, out, "--json", "--quiet").stdout)["counts"]["earlier"] == 2
    assert json.loads(batch(moved, out, "--json", "--seed", 1).stdout)["counts"]["earlier"] == 0
    assert before.items() <= batches.finished(out).items()


def test_a_damaged_result_is_found_again(scans, survey):
    out, _ = survey
    batch(scans, out)
    path = out / told(out)["rows"][0]["file"]
    text = path.read_text()
    path.write_text(text[:100])
    (out / "pairs" / ".half.tmp").touch()
    assert json.loads(batch(scans, out, "--json").stdout)["counts"]["earlier"] == 2
    assert json.loads(path.read_text())["result"]["transformation"] == json.loads(text)["result"]["transformation"]
    assert not (out / "pairs" / ".half.tmp").exists()


def test_rows_of_a_csv_have_options_names_and_failures_of_their_own(scans, tmp_path):
    (scans.parent / "broken.ply").write_text("nothing")
    problem = tear3d.synthetic.make_problem(400, 0.7, seed=1)
    for name, bound in (("given.npz", problem.noise_bound), ("bare.npz", None)):
        write_pairs(scans.parent / name, problem.source, problem.target, noise_bound=bound)
    np.save(scans.parent / "noise.npy", np.random.default_rng(0).normal(size=(800, 3)))
    manifest = scans.parent / "pairs.csv"
    manifest.write_text(
        "\ufeffname, source, target, pairs, noise_bound, voxel_size, seed\n"
        "first/<b>, scans/scan2.npy, scans/scan1.npy,,,0.2,3\n"
        ",noise.npy,scans/scan1.npy,,,,\n"
        "\n"
        "broken,broken.ply,scans/scan1.npy,,,,\n"
        ",,,given.npz,,,\n"
        "bare,,,bare.npz,,,\n"
    )
    out = tmp_path / "out"
    printed = batch(manifest, out, "--reports", code=3)
    summary = told(out)
    assert summary["counts"] == {
        "pairs": 5, "registered": 2, "not_registered": 1, "failed": 2, "waiting": 0, "earlier": 0
    }  # fmt: skip
    first, noise, broken, given, bare = summary["rows"]
    assert first["name"] == "first/<b>"
    found = json.loads((out / first["file"]).read_text())
    assert found["options"]["voxel_size"] == 0.2
    assert found["options"]["seed"] == 3
    assert found["result"]["voxel_size"] == 0.2
    assert (out / "pairs" / first["report"]).read_text().startswith("<!DOCTYPE html>")
    assert noise["verdict"] in ("doubtful", "rejected")
    assert (broken["state"], broken["file"]) == ("failed", None)
    assert "broken.ply" in broken["reason"]
    assert given["num_inliers"] == 120
    assert given["status"] == "uncertified"
    assert "noise bound" in bare["reason"]
    assert "broken: " in printed.stdout
    assert rows_on(out / "index.html") == ["broken", "bare", "noise--scan1", "first/<b>", "given"]
    again = json.loads(batch(manifest, out, "--json", code=3).stdout)
    assert again["counts"]["earlier"] == 3  # what failed was tried again


def test_all_pairs(scans, tmp_path):
    summary = json.loads(batch(scans, tmp_path / "out", "--all-pairs", "--json", "--quiet").stdout)
    names = [row["name"] for row in summary["rows"]]
    assert names == [f"scan{b}--scan{a}" for a in (1, 2, 3, 4) for b in range(a + 1, 5)]


def test_two_batches_do_not_share_a_folder_and_ctrl_c_keeps_what_is_done(scans, tmp_path):
    out = tmp_path / "out"
    running = batches.start(scans, out, "--processes", "1")
    try:
        while not list(out.glob("pairs/*.json")) and running.poll() is None:
            time.sleep(0.02)
        assert "another batch is at work" in batch(scans, out, code=2).stderr
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130, errors
    assert b"the same command goes on" in errors
    summary, results = told(out), batches.finished(out)
    assert len(results) == sum(row["state"] == "done" for row in summary["rows"])
    batches.check_summary(out)
    assert json.loads(batch(scans, out, "--json").stdout)["counts"]["earlier"] == len(results)


def test_killed_twenty_times_at_random_moments_nothing_is_lost_or_done_twice(tmp_path):
    batches.make_scans(tmp_path / "scans", 9)
    kills = batches.kill_often(tmp_path / "scans", tmp_path, count=20, seed=0)
    assert len(kills) == 20
    assert {kill.everybody for kill in kills} == {False, True}
    assert any(0 < kill.found < 8 for kill in kills)  # in the middle of the work too
