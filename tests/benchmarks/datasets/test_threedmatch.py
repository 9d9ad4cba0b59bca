"""3DMatch and 3DLoMatch in the forms in which they are passed around."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from benchmarks.datasets import Options, load, open_folder
from benchmarks.datasets.rules import OFFICIAL
from tear3d.errors import FileFormatError, InputError
from tear3d.io import write_cloud
from tests.benchmarks.datasets.make import (
    POINTS,
    SCENE,
    SHARED,
    check_truth,
    descriptors,
    fragment,
    share_within,
    threedmatch,
    true_motion,
    write_info,
    write_log,
)
from tests.bumpy import pose


def test_fragment_j_is_the_source_and_the_truth_maps_it_to_i(tmp_path):
    threedmatch(tmp_path)
    data = open_folder(tmp_path)
    assert (data.layout, data.title, data.noise_bound) == ("3dmatch", "3DMatch", 0.1)
    assert [entry.name for entry in data.entries] == [f"{SCENE}@{pair}" for pair in ("0_1", "1_2", "0_2")]
    pair = data.entries[0].load()
    check_truth(pair)
    assert share_within(pair, true_motion(1, 0)) == SHARED / POINTS
    assert len(pair.source) == POINTS
    own = {tuple(point) for point in fragment(1)}
    assert all(tuple(point) in own for point in pair.source)
    assert (pair.dataset, pair.limits) == ("3DMatch", (15.0, 0.3))


def write_joint(folder, k):
    np.savez(folder / f"cloud_bin_{k}_fcgf.npz", xyz=fragment(k), feature=descriptors(k), points=np.zeros((7, 3)))


def write_toolbox(folder, k):
    points, values = fragment(k).astype("<f4"), descriptors(k)
    np.concatenate([[POINTS], points.ravel()]).astype("<f4").tofile(folder / f"cloud_bin_{k}.keypts.bin")
    head = [POINTS, values.shape[1]]
    np.concatenate([head, values.ravel()]).astype("<f4").tofile(folder / f"cloud_bin_{k}.desc.3dmatch.bin")


def write_d3feat(folder, k):
    for name, values in (("keypoints", fragment(k)), ("descriptors", descriptors(k))):
        place = folder.parent.parent / name / folder.name
        place.mkdir(parents=True, exist_ok=True)
        np.save(place / f"cloud_bin_{k}.npy", values)


def write_text(folder, k):
    """Descriptors of all points of a cloud, no keypoints."""
    (folder / "02_Features").mkdir(exist_ok=True)
    np.savetxt(folder / "02_Features" / f"cloud_bin_{k}_0.15_16_CNN.txt", descriptors(k), delimiter=",")
    write_cloud(folder / f"cloud_bin_{k}.ply", fragment(k))


@pytest.mark.parametrize("write", [write_joint, write_toolbox, write_d3feat, write_text])
def test_other_forms_of_keypoints_and_descriptors(tmp_path, write):
    folder = tmp_path / "fragments" / SCENE
    folder.mkdir(parents=True)
    for k in (0, 1):
        (folder / f"cloud_bin_{k}.info.txt").write_text("not points")
        write(folder, k)
    write_log(tmp_path / "gt_result" / f"{SCENE}-evaluation" / "gt.log", [(0, 1)])
    pair = open_folder(tmp_path).entries[0].load()
    check_truth(pair)
    assert share_within(pair, true_motion(1, 0)) == SHARED / POINTS


def test_mutual_matches_are_right_and_fewer(tmp_path):
    threedmatch(tmp_path)
    both = load(tmp_path, "3dmatch", f"{SCENE}@0_1", Options(mutual=True))
    assert SHARED <= len(both.source) < POINTS
    assert int(both.inlier_mask.sum()) == SHARED


def test_a_sample_is_the_same_every_time(tmp_path):
    threedmatch(tmp_path)
    first, second = (load(tmp_path, "3dmatch", f"{SCENE}@0_1", Options(most=50)) for _ in range(2))
    assert len(first.source) == 50
    np.testing.assert_array_equal(first.source, second.source)
    np.testing.assert_array_equal(first.target, second.target)


def test_own_features_from_the_clouds(tmp_path):
    folder = threedmatch(tmp_path, [(0, 1)])
    shutil.rmtree(folder / "02_Features")
    assert len(open_folder(tmp_path).entries[0].files) == 3
    pair = load(tmp_path, "3dmatch", f"{SCENE}@0_1", Options(voxel=0.3))
    assert len(pair.source) <= POINTS
    assert share_within(pair, pair.truth) > 5 * share_within(pair, np.linalg.inv(pair.truth))


def test_both_rules_are_judged_and_named(tmp_path):
    folder = threedmatch(tmp_path)
    write_info(folder / "gt.info", [(0, 1), (1, 2), (0, 2)])
    apart = load(tmp_path, "3dmatch", f"{SCENE}@0_2")
    assert list(apart.rules) == ["15° and 30 cm", OFFICIAL]
    assert "not RMSE < 0.2 m" in apart.rules["15° and 30 cm"]
    assert apart.verdicts(apart.truth) == {"15° and 30 cm": True, OFFICIAL: True}
    # 10° about the origin of the source, metres away from its points: within 15° and 30 cm, not within 0.2 m.
    turned = apart.truth @ pose([0.0, 0.0, np.radians(10.0)], [0.0, 0.0, 0.0])
    assert apart.verdicts(turned) == {"15° and 30 cm": True, OFFICIAL: False}
    assert apart.verdicts(np.full((4, 4), np.nan)) == {"15° and 30 cm": False, OFFICIAL: False}
    # The official recall leaves consecutive fragments out.
    assert list(load(tmp_path, "3dmatch", f"{SCENE}@0_1").rules) == ["15° and 30 cm"]


def test_3dlomatch_has_its_own_log_beside(tmp_path):
    threedmatch(tmp_path, [(0, 1), (1, 2)])
    write_log(tmp_path / "benchmarks" / "3DLoMatch" / SCENE / "gt.log", [(0, 2)])
    with pytest.raises(InputError, match="could be 3dmatch or 3dlomatch"):
        open_folder(tmp_path)
    assert len(open_folder(tmp_path, "3dmatch").entries) == 2
    low = open_folder(tmp_path, "3dlomatch")
    assert [entry.name for entry in low.entries] == [f"{SCENE}@0_2"]
    pair = low.entries[0].load()
    assert pair.dataset == "3DLoMatch"
    assert share_within(pair, true_motion(2, 0)) == (2 * SHARED - POINTS) / POINTS
    with pytest.raises(InputError, match="no pair 0 1"):
        load(tmp_path, "3dlomatch", f"{SCENE}@0_1")


def test_the_scene_itself_may_be_the_folder(tmp_path):
    folder = threedmatch(tmp_path)
    data = open_folder(folder)
    assert len(data.entries) == 3
    check_truth(data.entries[1].load())


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda f: (f / "gt.log").unlink(), "has fragments but no true poses"),
        (lambda f: [p.unlink() for p in f.rglob("cloud_bin_2*")], "the true poses name fragment 2"),
        (lambda f: np.save(f / "02_Features" / "cloud_bin_1_own.npy", descriptors(1)), "has several descriptors"),
    ],
)
def test_what_is_missing_is_named_when_the_folder_is_opened(tmp_path, break_it, said):
    break_it(threedmatch(tmp_path))
    with pytest.raises(InputError, match=said) as error:
        open_folder(tmp_path, "3dmatch")
    assert SCENE in str(error.value)


NAME = "cloud_bin_1_0.150000_16_1.750000_CNN.npz"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"data": descriptors(1)[:-3]}, rf"{POINTS - 3} descriptors, but .*Keypoints.txt has {POINTS} points"),
        ({"data": descriptors(1, 5)}, "length 5, but .* has length 6"),
        ({"data": descriptors(1)[:, 0]}, "expected N×D numbers"),
        ({"other": descriptors(1)}, "holds other: expected feature"),
        ({"data": np.full((POINTS, 6), np.nan)}, "none of its 400 descriptors is finite"),
        ({"data": np.array([{}], dtype=object)}, "not a descriptor file"),
    ],
)
def test_wrong_descriptors_are_named(tmp_path, values, said):
    folder = threedmatch(tmp_path)
    np.savez(folder / "02_Features" / NAME, **values)
    with pytest.raises(FileFormatError, match=said) as error:
        load(tmp_path, "3dmatch", f"{SCENE}@0_1")
    assert NAME in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("401\n" * POINTS, f"names row 401 of .*cloud_bin_1.ply, which has {POINTS} points"),
        ("-1\n" * POINTS, "names row"),
        ("1.5\n" * POINTS, "expected N×3 coordinates or N row numbers"),
        ("1 2\n" * POINTS, "expected N×3 coordinates or N row numbers"),
        ("one\n" * POINTS, "not a keypoint file"),
    ],
)
def test_wrong_keypoints_are_named(tmp_path, text, said):
    folder = threedmatch(tmp_path)
    (folder / "01_Keypoints" / "cloud_bin_1Keypoints.txt").write_text(text)
    with pytest.raises(FileFormatError, match=said):
        load(tmp_path, "3dmatch", f"{SCENE}@0_1")


def test_a_damaged_toolbox_file(tmp_path):
    folder = tmp_path / SCENE
    folder.mkdir()
    for k in (0, 1):
        write_toolbox(folder, k)
    write_log(folder / "gt.log", [(0, 1)])
    path = folder / "cloud_bin_1.desc.3dmatch.bin"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(FileFormatError, match="declares 400×6 numbers but holds 2399"):
        load(tmp_path, "3dmatch", f"{SCENE}@0_1")


def test_one_of_several_descriptors_is_chosen_by_name(tmp_path):
    folder = threedmatch(tmp_path, [(0, 1)])
    for k in (0, 1):
        np.save(folder / "02_Features" / f"cloud_bin_{k}_zero.npy", np.zeros((POINTS, 2)))
    assert share_within(load(tmp_path, "3dmatch", f"{SCENE}@0_1", Options(descriptors="CNN")), true_motion(1, 0)) > 0.5
    assert share_within(load(tmp_path, "3dmatch", f"{SCENE}@0_1", Options(descriptors="zero")), true_motion(1, 0)) < 0.1
    with pytest.raises(InputError, match="no descriptors with 'fcgf'"):
        open_folder(tmp_path, options=Options(descriptors="fcgf"))


def test_rows_without_a_finite_descriptor_are_left_out(tmp_path):
    folder = threedmatch(tmp_path, [(0, 1)])
    values = descriptors(1)[::-1].copy()
    values[:40, 0] = np.nan
    np.savez(folder / "02_Features" / NAME, data=values)
    assert len(load(tmp_path, "3dmatch", f"{SCENE}@0_1").source) == POINTS - 40
