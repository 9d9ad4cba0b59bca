"""Poses and atomic files."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from tear3d.errors import FileFormatError, InputError
from tear3d.io import atomic_write, read_pose, write_pose

finite = st.floats(-1e7, 1e7)


def make_pose(seed: int = 0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=seed).as_matrix()
    pose[:3, 3] = [500000.123456789, 4000000.987654321, 1 / 3]
    return pose


@given(translation=arrays(np.float64, 3, elements=finite), seed=st.integers(0, 1000))
@pytest.mark.parametrize(("style", "name"), [("matrix", "a.txt"), ("kitti", "a.txt"), ("matrix", "a.npz")])
def test_round_trip_is_exact(tmp_path_factory, style, name, translation, seed):
    path = tmp_path_factory.getbasetemp() / name
    pose = make_pose(seed)
    pose[:3, 3] = translation
    write_pose(path, pose, style)
    np.testing.assert_array_equal(read_pose(path), pose)


def test_layout_of_the_lines(tmp_path):
    path, pose = tmp_path / "a.txt", make_pose()
    write_pose(path, pose)
    np.testing.assert_array_equal(np.loadtxt(path), pose)
    write_pose(path, pose, "kitti")
    np.testing.assert_array_equal(np.loadtxt(path), pose[:3].ravel())
    write_pose(path, pose, "tum")
    line = np.loadtxt(path)
    np.testing.assert_array_equal(line[:4], [0, *pose[:3, 3]])
    np.testing.assert_allclose(Rotation.from_quat(line[4:]).as_matrix(), pose[:3, :3], atol=1e-15)
    np.testing.assert_allclose(read_pose(path), pose, rtol=0, atol=1e-15)


def test_write_refuses(tmp_path):
    path, pose = tmp_path / "a.txt", make_pose()
    scaled = pose.copy()
    scaled[:3, :3] *= 2
    with pytest.raises(InputError, match=r"shape \(3, 3\)"):
        write_pose(path, np.eye(3))
    with pytest.raises(InputError, match="style is 'euler'"):
        write_pose(path, pose, "euler")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scale"):
        write_pose(path, scaled, "tum")
    with pytest.raises(InputError, match="NaN"):
        write_pose(path, pose * np.nan)
    assert not path.exists()
    write_pose(path, scaled)
    np.testing.assert_array_equal(read_pose(path), scaled)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows of"),
        ("1 2 3", "rows of"),
        ("1 0 0 0\n0 1 0 0\n0 0 1\n", "rows of"),
        ("a b c d", "pose"),
        ("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 2\n", "last row"),
        ("1 0 0 nan\n0 1 0 0\n0 0 1 0\n", "NaN"),
        ("1 0 0 0\n0 1 0 0\n0 0 -1 0\n", "determinant"),
        ("0 1 2 3 0 0 0 0", "pose"),
        ("0 1 2 3 0 0 0 1\n" * 2, "rows of"),
        ("1 " * 100_000, "larger than"),
    ],
)
def test_bad_pose_files(tmp_path, text, message):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_pose(path)
    assert str(path) in str(caught.value)


def test_damaged_npz_and_missing_file(tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(InputError, match="no such file"):
        read_pose(path)
    write_pose(path, make_pose())
    data = path.read_bytes()
    for cut in range(0, len(data), 7):
        path.write_bytes(data[:cut])
        with pytest.raises(FileFormatError):
            read_pose(path)
    np.savez(path, transformation=np.array([[None] * 4] * 4))
    with pytest.raises(FileFormatError, match="object"):
        read_pose(path)


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with atomic_write(path) as handle:
            handle.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_write_permissions_links_and_targets(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    link = tmp_path / "link"
    link.symlink_to("real")
    with atomic_write(link) as handle:
        assert not (tmp_path / "real").exists()
        handle.write(b"x")
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    for target, message in ((tmp_path, "regular file"), (tmp_path / "no" / "a", "does not exist")):
        with pytest.raises(InputError, match=message), atomic_write(target):
            pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="regular file"), atomic_write(tmp_path / "pipe"):
        pass
