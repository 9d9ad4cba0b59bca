"""One interface for all layouts: guessed or named, entries that load anywhere, and the listing."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from typer import Typer
from typer.testing import CliRunner

from benchmarks.datasets import LAYOUTS, DataPair, Entry, Options, load, module_of, open_folder
from benchmarks.datasets.__main__ import main
from benchmarks.datasets.matching import Described, clouds_to_pairs, match_described
from benchmarks.datasets.rules import RULES
from benchmarks.real_pairs import RealPair
from tear3d.errors import FileFormatError, InputError
from tests.benchmarks.datasets.make import SCENE, check_truth, descriptors, fragment, threedmatch, true_motion
from tests.benchmarks.datasets.test_eth import asl, tls
from tests.benchmarks.datasets.test_kitti import kitti
from tests.bumpy import apply, bumpy_cloud

ROOT = Path(__file__).resolve().parents[3]


def plain(root: Path) -> Path:
    motion = true_motion(1, 0)
    for name, bound in (("kitti_a", 0.6), ("bunny", 0.01)):
        source = fragment(1)
        np.savez(root / f"{name}.npz", src=source, dst=apply(motion, source), T_gt=motion, xi=bound)
    return root


MAKERS = {"pairs": plain, "3dmatch": threedmatch, "kitti": kitti, "eth": asl, "eth-tls": tls}


@pytest.mark.parametrize("layout", MAKERS)
def test_a_layout_is_guessed_and_its_entries_survive_json_and_pickle(tmp_path, layout):
    MAKERS[layout](tmp_path)
    data = open_folder(tmp_path)
    assert data.layout == layout
    assert [entry.index for entry in data.entries] == list(range(len(data.entries)))
    for entry in data.entries:
        assert Entry.from_dict(json.loads(json.dumps(entry.to_dict()))) == entry
        assert pickle.loads(pickle.dumps(entry)) == entry
        assert all(Path(file).is_file() for file in entry.files)
    pair = data.entries[0].load()
    assert isinstance(pair, RealPair)
    assert pair.name == data.entries[0].name
    assert pair.source.shape == pair.target.shape == (len(pair.source), 3)
    assert {pair.source.dtype, pair.target.dtype, pair.truth.dtype} == {np.dtype(np.float64)}


def test_an_entry_loads_in_another_process(tmp_path):
    threedmatch(tmp_path)
    entry = open_folder(tmp_path).entries[1]
    code = (
        "import sys, numpy as np; from benchmarks.datasets import load; "
        "pair = load(*sys.argv[1:4]); np.savez(sys.argv[4], *(pair.source, pair.target, pair.truth))"
    )
    out = str(tmp_path / "out.npz")
    subprocess.run([sys.executable, "-c", code, entry.folder, entry.layout, entry.name, out], cwd=ROOT, check=True)
    here = entry.load()
    with np.load(out) as there:
        for key, mine in zip(("arr_0", "arr_1", "arr_2"), (here.source, here.target, here.truth), strict=True):
            np.testing.assert_array_equal(there[key], mine)


def test_the_plain_layout_keeps_the_rules_of_its_names(tmp_path):
    data = open_folder(plain(tmp_path))
    assert data.groups == {"KITTI": 1, "other": 1}
    assert "5° and 60 cm (KITTI)" in data.rule
    bunny, kitti_pair = (entry.load() for entry in data.entries)
    assert bunny.limits == pytest.approx((5.0, 0.03))
    assert list(bunny.verdicts(bunny.truth).items()) == [("5° and 3ξ", True)]
    assert (kitti_pair.dataset, kitti_pair.limits) == ("KITTI", (5.0, 0.6))
    (tmp_path / "README.md").write_text("| pair | undecidable |\n|---|---|\n| bunny | yes |\n")
    assert data.undecidable() == {"bunny"}


def test_every_rule_is_stated():
    for title, said in (("3dmatch", "15° and translation error at most 30 cm; ξ = 10 cm; this is not RMSE"),
                        ("kitti", "5° and translation error at most 60 cm; ξ = 60 cm"),
                        ("eth", "3° and translation error at most 50 cm; ξ = 30 cm"),
                        ("eth-tls", "3° and translation error at most 50 cm; ξ = 30 cm")):  # fmt: skip
        assert said in RULES[module_of(title).TITLE].sentence


def test_folders_that_hold_nothing_say_what_is_expected(tmp_path):
    with pytest.raises(InputError, match="holds no data set of a known layout") as error:
        open_folder(tmp_path)
    assert all(module_of(layout).EXPECTED in str(error.value) for layout in LAYOUTS)
    for layout in LAYOUTS:
        with pytest.raises(InputError, match=str(tmp_path)):
            open_folder(tmp_path, layout)
    with pytest.raises(InputError, match="no such folder"):
        open_folder(tmp_path / "none")
    with pytest.raises(InputError, match="layout is 'modelnet': expected one of pairs, 3dmatch"):
        open_folder(tmp_path, "modelnet")


def test_names_that_are_not_there(tmp_path):
    for layout, make in MAKERS.items():
        folder = tmp_path / layout
        folder.mkdir()
        make(folder)
        with pytest.raises(InputError, match=layout):
            load(folder, layout, "nothing")


def test_options_are_checked():
    for wrong in ({"keypoints": "sift"}, {"most": 2}, {"voxel": 0.0}, {"voxel": float("nan")}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Options(**wrong)


def test_points_that_are_not_matched_are_refused():
    some = np.zeros((5, 3))
    for source, target in ((some, some[:4]), (some[:2], some[:2]), (some[:, :2], some[:, :2])):
        with pytest.raises(InputError, match="pair"):
            DataPair("pair", source, target, np.eye(4), 0.1)


def test_nearest_descriptors_are_those_of_a_tree():
    first, second = (Described(fragment(k), descriptors(k)) for k in (1, 0))
    near = cKDTree(second.descriptors).query(first.descriptors)[1]
    back = cKDTree(first.descriptors).query(second.descriptors)[1]
    source, target = match_described(first, second)
    np.testing.assert_array_equal(source, first.points)
    np.testing.assert_array_equal(target, second.points[near])
    both = back[near] == np.arange(len(near))
    np.testing.assert_array_equal(match_described(first, second, mutual=True)[0], first.points[both])


def test_clouds_become_pairs():
    cloud = bumpy_cloud(1000, 0)
    motion = true_motion(1, 0)
    source, target = clouds_to_pairs(cloud, apply(motion, cloud), 0.08)
    check_truth(DataPair("clouds", source, target, motion, 0.08))
    assert len(clouds_to_pairs(cloud, apply(motion, cloud), 0.08, "iss")[0]) < len(source)
    with pytest.raises(InputError, match="use larger ones"):
        clouds_to_pairs(cloud, cloud, 1e-6)


def command(*words: str) -> tuple[int, str]:
    app = Typer()
    app.command()(main)
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


def test_the_listing_names_pairs_bound_and_rule(tmp_path):
    threedmatch(tmp_path)
    code, said = command(str(tmp_path), "--load", "2")
    assert code == 0
    for words in ("3DMatch (layout 3dmatch): 3 pairs", SCENE, "ξ: 0.1 m", "15°", "not RMSE", f"{SCENE}@0_1", "60.00 %"):
        assert words in said
    code, said = command(str(tmp_path), "--layout", "kitti")
    assert code == 2
    assert "none of 08, 09, 10" in said


def test_written_pairs_are_the_same_pairs(tmp_path):
    threedmatch(tmp_path / "in")
    assert command(str(tmp_path / "in"), "--write", str(tmp_path / "out"))[0] == 0
    written = open_folder(tmp_path / "out")
    assert len(written.entries) == 3
    first, again = load(tmp_path / "in", "3dmatch", f"{SCENE}@0_1"), written.entries[0].load()
    np.testing.assert_array_equal(first.source, again.source)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert (again.dataset, again.limits, again.noise_bound) == ("3DMatch", first.limits, 0.1)


def test_a_damaged_pair_is_named(tmp_path):
    plain(tmp_path)
    np.savez(tmp_path / "bunny.npz", src=np.zeros((5, 3)), dst=np.zeros((5, 3)), T_gt=np.eye(3), xi=0.1)
    with pytest.raises(FileFormatError, match=r"bunny\.npz: T_gt of shape"):
        load(tmp_path, "pairs", "bunny")
    (tmp_path / "bunny.npz").write_bytes(b"PK nothing")
    with pytest.raises(FileFormatError, match=r"bunny\.npz: expected an npz"):
        load(tmp_path, "pairs", "bunny")
