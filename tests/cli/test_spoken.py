"""Errors name options as they are typed."""

import numpy as np
import pytest

import tear3d
from tests.bumpy import bumpy_cloud
from tests.cli.support import run


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scans").mkdir()
    for name in ("a.ply", "b.ply", "voxel_size.ply", "scans/a.ply", "scans/b.ply"):
        tear3d.write_cloud(name, bumpy_cloud(300, 0))
    (tmp_path / "list.csv").write_text("source,target,voxel_size\na.ply,b.ply,-3\n")
    np.save("pairs.npy", np.random.default_rng(0).normal(size=(50, 6)))
    np.savez("pairs.npz", source=np.eye(3), target=np.eye(3), noise_bound=1.0)
    np.savetxt("pose.txt", np.eye(4))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("align", "a.ply", "b.ply", "-v", "-1"), "error: --voxel-size is -1.0: expected"),
        (("align", "a.ply", "b.ply", "--ratio", "5"), "error: --ratio is 5.0: expected a number above 0 and at most 1"),
        (("align", "a.ply", "b.ply", "--initial", "pose.txt"), "error: --initial is given without --within: "),
        (("register", "pairs.npy", "-n", "-1"), "error: --noise-bound is -1: expected a finite number, 0 or more\n"),
        (("register", "pairs.npy", "-n", "nan"), "error: --noise-bound is nan: expected"),
        (("register", "pairs.npy", "--initial", "pose.txt", "--within", "-1,1"), "error: --within is -1.0: expected"),
        (("align", "pairs.npz", "a.ply"), "error: pairs.npz: holds source, target, noise_bound; expected"),
        (("register", "pairs.npy", "--scale-range", "2,1"), "error: --scale-range is given without --scale\n"),
        (("register", "pairs.npy", "-n", "1", "--scale", "--certify", "rows"), "error: --scale and --certify rows do"),
        (("register", "pairs.npy", "-n", "1", "--instances", "2", "--scale"), "error: --instances and --scale do not"),
        (("merge", "a.ply", "-o", "x.ply", "--voxel-size", "0"), "error: --voxel-size is 0.0: expected"),
        (("refine", "a.ply", "b.ply", "--max-distance", "-1"), "error: --max-distance is -1.0: expected"),
        (("map", "scans", "--out", "m", "-v", "-1"), "error: --voxel-size is -1.0"),
        (("batch", "scans", "--out", "m", "-v", "-1"), "error: --voxel-size is -1.0"),
        (("synth", "x.npz", "--scale", "-1"), "error: --scale is -1.0"),
        *(((command, "voxel_size.ply", *rest, "--max-bytes", "10"), "pass --max-bytes ") for command, *rest in (
            ("info",), ("view", "-o", "x.html"), ("compare", "a.ply"), ("refine", "a.ply"),
            ("transform", "pose.txt", "-o", "x.ply"), ("merge", "-o", "x.ply"),
        )),
    ],
)  # fmt: skip
def test_messages_name_the_option(place, arguments, told):
    said = run(*arguments, code=2).stderr
    assert told in said
    if "voxel_size.ply" in arguments:
        assert said.startswith("error: voxel_size.ply: ")


def test_columns_of_a_file_keep_their_names(place):
    assert "voxel_size is -3" in run("batch", "list.csv", "--out", "m", code=2).stderr


def test_a_limit_says_which_option_would_help(place):
    said = run("align", "a.ply", "b.ply", "--time-limit", "0", code=3).stderr
    assert "use a larger --voxel-size; nothing was written" in said
