"""`tear3d align`: two clouds in, a pose, a report and the moved cloud out."""

import json
import sys

import numpy as np
import pytest

import tear3d
from tear3d.io.pairs import read_pairs
from tear3d.io.poses import read_pose
from tests.bumpy import apply, pose
from tests.cli.support import FOUND, NOTHING_KNOWN, REFINED, run
from tests.real_data import require_clouds

NAMES = (
    "lidar_small_gicp",
    "stanford_bunny_045_090",
    pytest.param("3dmatch_kitchen_0_1", marks=pytest.mark.slow),
    pytest.param("kitti00_0_10", marks=pytest.mark.slow),
    pytest.param("stanford_dragon_0_336", marks=pytest.mark.slow),
)


def test_the_summary_shows_the_refined_pose_and_the_certificate(aligner, files):
    output = " ".join(run("align", *files).stdout.split())
    assert f"{REFINED[1, 3]:.6f}" in output
    assert "refined on the clouds" in output
    assert "proven optimal" in output
    assert "600 and 600 points, thinned to 400 and 400" in output
    assert "93.0 % of the source within 0.3" in output
    assert "moved the points by" in output
    assert "row 2" in output
    assert "downsample 100 ms, register 400 ms" in output


def test_the_report_has_the_colours_of_the_files(aligner, files, tmp_path):
    source, target = files
    cloud = tear3d.Cloud.read(source)
    coloured = tear3d.Cloud(cloud.points, {"colors": np.full((len(cloud), 3), 200, np.uint8)})
    for given, shown in ((source, False), (coloured.write(tmp_path / "coloured.ply"), True)):
        page = tmp_path / f"{shown}.html"
        run("align", given, target, "--report", page, "--quiet")
        assert ('data-paint="tint-0"' in page.read_text("utf-8")) == shown


def test_options_reach_the_library(aligner, files):
    run("align", *files, "--quiet")
    run(
        *(
            "align",
            *files,
            "--voxel-size",
            0.2,
            "--noise-bound",
            0.3,
            "--refine",
            "none",
            "--keypoints",
            "iss",
        ),
        *("--ratio", 0.9, "--top-k", 3, "--mutual", "--time-limit", 8, "--rel-gap", 0.01, "--threads", 2),
        *("--seed", 6, "--no-certify", "--quiet"),
    )
    defaults, given = ({k: v for k, v in c.items() if k not in ("source", "target")} for c in aligner.calls)
    assert defaults == {
        "voxel_size": None,
        "noise_bound": None,
        "refine": "gicp",
        "keypoints": None,
        "ratio": None,
        "top_k": 1,
        "mutual": False,
        "time_limit": "auto",
        "rel_gap": None,
        "threads": None,
        "seed": 0,
        "certify": True,
        **NOTHING_KNOWN,
    }
    assert given == {
        "voxel_size": 0.2,
        "noise_bound": 0.3,
        "refine": None,
        "keypoints": "iss",
        "ratio": 0.9,
        "top_k": 3,
        "mutual": True,
        "time_limit": 8.0,
        "rel_gap": 0.01,
        "threads": 2,
        "seed": 6,
        "certify": False,
        **NOTHING_KNOWN,
    }
    np.testing.assert_array_equal(aligner.calls[0]["source"], np.load(files[0]))


def test_json_pose_and_report(aligner, files, tmp_path):
    pose_file, page = tmp_path / "pose.txt", tmp_path / "r.html"
    printed = run("align", *files, "--json", "--pose", pose_file, "--report", page)
    result = json.loads(printed.stdout)
    np.testing.assert_array_equal(result["transformation"], REFINED)
    np.testing.assert_array_equal(result["matches"]["transformation"], FOUND)
    np.testing.assert_array_equal(read_pose(pose_file), REFINED)
    assert "a.npy onto b.xyz" in page.read_text("utf-8")


def test_the_folder_has_the_aligned_cloud_and_the_matches(aligner, files, tmp_path):
    run("align", *files, "--out", tmp_path / "run", "--quiet")
    aligned = tear3d.read_cloud(tmp_path / "run" / "aligned.ply")
    np.testing.assert_allclose(aligned, apply(REFINED, np.load(files[0])), atol=1e-12)
    matches = read_pairs(tmp_path / "run" / "inliers.txt")
    np.testing.assert_array_equal(matches.source, np.load(files[0])[:50])
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["command"] == "align"
    assert [entry["path"] for entry in settings["inputs"]] == [str(file) for file in files]


def test_rows_that_are_not_finite_are_counted_and_not_written(files, tmp_path):
    holes = np.vstack((np.full((7, 3), np.nan), np.load(files[0])))
    rows = np.zeros(607, dtype=[("x", "f8"), ("y", "f8"), ("z", "f8"), ("row", "i4")])
    rows["x"], rows["y"], rows["z"], rows["row"] = *holes.T, np.arange(607)
    np.save(files[0], rows)
    shown = run("align", *files, "--out", tmp_path / "run")
    note = "dropped 7 of 607 points of source that are not finite"
    assert note in shown.stdout
    assert f"warning: {note}" in shown.stderr
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["dropped"] == [7, 0]
    aligned = tear3d.Cloud.read(tmp_path / "run" / "aligned.ply")
    np.testing.assert_allclose(aligned.points, apply(np.array(result["transformation"]), holes[7:]), atol=1e-9)
    np.testing.assert_array_equal(aligned.attributes["row"], np.arange(7, 607))


@pytest.mark.parametrize("suffix", [".ply", ".npz", ".xyz", ".csv"])
def test_the_aligned_cloud_has_what_the_source_has(aligner, files, tmp_path, suffix):
    points = np.load(files[0])
    normals = np.tile([0.0, 0.6, 0.8], (len(points), 1))
    names = {"colors": np.arange(3 * len(points)).reshape(-1, 3).astype(np.uint8), "normals": normals}
    written = tear3d.Cloud(points, names).write(tmp_path / ("s.xyz" if suffix == ".csv" else f"s{suffix}"))
    written.rename(tmp_path / f"s{suffix}")
    run("align", tmp_path / f"s{suffix}", files[1], "--out", tmp_path / "run", "--quiet")
    wanted = ".ply" if suffix == ".csv" else suffix
    assert [file.name for file in (tmp_path / "run").glob("aligned.*")] == [f"aligned{wanted}"]
    aligned = tear3d.Cloud.read(tmp_path / "run" / f"aligned{wanted}")
    np.testing.assert_allclose(aligned.points, apply(REFINED, points), atol=1e-12)
    np.testing.assert_array_equal(aligned.attributes["colors"], names["colors"])
    np.testing.assert_allclose(aligned.attributes["normals"], normals @ REFINED[:3, :3].T, atol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_far_from_the_origin_the_way_of_the_centre_is_shown(files, offset):
    turn = pose([0.0, 0.0, 0.1], [0.0, 0.0, 0.0])
    cloud = np.load(files[0])
    np.save(files[0], cloud + offset)
    np.savetxt(files[1], apply(turn, cloud) + offset + [0.5, 0.0, 0.25], fmt="%.17g")
    shown = run("align", *files, "--no-certify").stdout
    assert ("centre moves by" in shown) == (offset > 0.0)


@pytest.mark.parametrize(
    ("status", "flags", "code"),
    [
        ("no_consensus", (), 3),
        ("time_limit", (), 0),
        ("time_limit", ("--time-limit", "5"), 3),
        ("uncertified", (), 3),
        ("uncertified", ("--no-certify",), 0),
    ],
)
def test_exit_codes_are_those_of_register(aligner, files, status, flags, code):
    aligner.status = status
    output = run("align", *files, *flags, code=code).stdout
    assert ("--voxel-size" in output) == (status == "no_consensus")


def test_a_refinement_that_kept_the_start_says_so(aligner, files):
    aligner.refined = FOUND
    assert "found nothing better" in run("align", *files).stdout


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.ply", None, "none.ply: no such file"),
        ("a.dat", b"hello", "a.dat: unknown format .dat"),
        (
            "cut.ply",
            b"ply\nformat ascii 1.0\nelement vertex 9\n",
            "cut.ply: the PLY header has no end_header",
        ),
    ],
)
def test_bad_files_are_named(aligner, files, tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    failed = run("align", tmp_path / name, files[1], code=2)
    assert message in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert aligner.calls == []


def test_an_input_inside_the_output_folder_is_refused(aligner, files, tmp_path):
    run("align", *files, "--out", tmp_path / "run", "--quiet")
    failed = run("align", tmp_path / "run" / "aligned.ply", files[1], "--out", tmp_path / "run", code=2)
    assert "aligned.ply: lies in the folder" in failed.stderr


def test_a_missing_extra_is_noticed_before_the_work(aligner, files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pye57", None)
    (tmp_path / "scan.e57").write_bytes(b"ASTM-E57")
    failed = run("align", tmp_path / "scan.e57", files[1], "--out", tmp_path / "run", code=2)
    assert "pip install 'tear3d[e57]'" in failed.stderr
    assert aligner.calls == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", NAMES)
def test_real_clouds(name, tmp_path):
    folder = require_clouds()
    source, target = (next((folder / name).glob(f"{side}.*")) for side in ("source", "target"))
    result = json.loads(run("align", source, target, "--certify", "rows", "--json").stdout)
    assert result["status"] == "optimal"
    cloud, truth = tear3d.read_cloud(source), np.loadtxt(folder / name / "T_target_source.txt")
    error = np.linalg.norm(apply(np.array(result["transformation"]), cloud) - apply(truth, cloud), axis=1)
    assert error.mean() < result["voxel_size"]


@pytest.mark.parametrize(("verdict", "words"), [("doubtful", "do not confirm"), ("rejected", "contradict")])
def test_a_pose_that_the_clouds_do_not_confirm_exits_with_3_and_says_why(aligner, files, verdict, words):
    aligner.verdict = verdict
    output = run("align", *files, code=3).stdout
    assert verdict in output
    assert words in output
    assert "a reason" in output
    assert "Registered" not in output
