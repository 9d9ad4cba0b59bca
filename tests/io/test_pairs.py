import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tear3d.errors import FileFormatError, InputError
from tear3d.io.pairs import read_pairs, write_pairs

ROW = "1 2 3 4 5 6\n"


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".csv", ".txt", ".CSV"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pairs=arrays(float, (4, 6), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_what_is_written_comes_back_bit_by_bit(tmp_path, suffix, pairs):
    path = tmp_path / f"pairs{suffix}"
    write_pairs(path, pairs[:, :3], pairs[:, 3:])
    source, target, noise_bound, weights = read_pairs(path)
    np.testing.assert_array_equal(source, pairs[:, :3])
    np.testing.assert_array_equal(target, pairs[:, 3:])
    assert noise_bound is None
    assert weights is None
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_many_rows_cross_the_writers_blocks(tmp_path):
    pairs = np.random.default_rng(0).normal(size=(70_000, 6))
    for suffix in (".npy", ".csv"):
        write_pairs(tmp_path / f"p{suffix}", pairs[:, :3], pairs[:, 3:])
        np.testing.assert_array_equal(np.hstack(read_pairs(tmp_path / f"p{suffix}")[:2]), pairs)


def test_npz_carries_noise_bound_weights_and_extras(tmp_path):
    path = tmp_path / "p.npz"
    points = np.arange(12.0).reshape(4, 3)
    write_pairs(path, points, points + 1, noise_bound=0.05, weights=[1, 2, 3, 4], truth=np.eye(4))
    pairs = read_pairs(path)
    assert pairs.noise_bound == 0.05
    assert isinstance(pairs.noise_bound, float)
    np.testing.assert_array_equal(pairs.weights, [1, 2, 3, 4])
    np.testing.assert_array_equal(np.load(path)["truth"], np.eye(4))


def test_npz_accepts_other_spellings_and_a_bound_per_pair(tmp_path):
    path = tmp_path / "p.npz"
    points = np.arange(12.0).reshape(4, 3)
    np.savez(path, src=points, dst=points + 1, xi=np.full(4, 0.1))
    pairs = read_pairs(path)
    np.testing.assert_array_equal(pairs.source, points)
    np.testing.assert_array_equal(pairs.target, points + 1)
    np.testing.assert_array_equal(pairs.noise_bound, np.full(4, 0.1))


def test_npy_is_mapped_not_copied(tmp_path):
    path = tmp_path / "p.npy"
    np.save(path, np.arange(60.0).reshape(10, 6))
    source, target, *_ = read_pairs(path)
    assert isinstance(source, np.memmap)
    assert isinstance(target, np.memmap)
    assert source.base is not None
    assert not source.flags.owndata
    assert source.strides == target.strides == (48, 8)


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3,4,5,6\n7,8,9,10,11,12\n",
        "1, 2, 3, 4, 5, 6\n7, 8, 9, 10, 11, 12",
        "1 2 3 4 5 6\r\n7 8 9 10 11 12\r\n",
        "\n# a comment\nx1,y1,z1,x2,y2,z2\n\n1,2,3,4,5,6 # here too\n# and here\n7,8,9,10,11,12\n",
        "\ufeffsx sy sz tx ty tz\n1\t2\t3\t4\t5\t6\n7e0 8.0 +9 10 11 12\n",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_text_in_its_usual_dialects(tmp_path, text, suffix):
    path = tmp_path / f"p{suffix}"
    path.write_bytes(text.encode())
    source, target, *_ = read_pairs(path)
    np.testing.assert_array_equal(source, [[1, 2, 3], [7, 8, 9]])
    np.testing.assert_array_equal(target, [[4, 5, 6], [10, 11, 12]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no pairs"),
        ("# nothing\na b c\n", "no pairs"),
        ("1 2 3\n", "line 1: 3 columns.*six columns"),
        ("# c\nh h h h h h\n" + ROW + "1 2 3 4 5\n", "line 4: 5 columns"),
        ("h h h h h h\n\n" + ROW + "1 2 x 4 5 6\n", "line 4: 'x' is not a number"),
        (ROW + "h h h h h h\n", "line 2: 'h' is not a number"),
        ("a b c\nd e f\n", "line 2: 3 columns"),
        ("1,2,,4,5,6\n", "line 1: '' is not a number"),
        ("1;2;3;4;5;6\n1;2;3;4;5;6\n", "no pairs|line 2: 1 columns"),
        ("1 2 3 4 5 oops\n", "line 1: 'oops'"),
    ],
)
def test_bad_text_names_the_line(tmp_path, text, message):
    path = tmp_path / "p.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message) as error:
        read_pairs(path)
    assert str(path) in str(error.value)


def points(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": points(4, 3)}, "holds a: expected N×3 arrays source and target"),
        ({"source": points(4, 3)}, "holds source: expected"),
        ({"source": points(3, 4), "target": points(4, 3)}, r"source has shape \(3, 4\).*rows"),
        ({"source": points(4, 3), "target": points(12)}, r"target has shape \(12,\)"),
        ({"source": points(4, 3), "target": points(5, 3)}, "source has 4 points and target 5"),
        ({"source": points(4, 3), "target": points(4, 3) + 1j}, "target has type complex128"),
        ({"source": points(4, 3), "target": points(4, 3), "xi": points(3)}, r"noise_bound has shape \(3,\)"),
        ({"source": points(4, 3), "target": points(4, 3), "weights": points(2)}, r"weights has shape \(2,\)"),
        ({"source": np.full((4, 3), None), "target": points(4, 3)}, "source has type object"),
    ],
)
def test_bad_npz_names_the_array(tmp_path, content, message):
    path = tmp_path / "p.npz"
    np.savez(path, **content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_pairs(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("array", [points(6), points(4, 5), points(6, 3, 2)])
def test_bad_npy_names_the_shape(tmp_path, array):
    np.save(tmp_path / "p.npy", array)
    with pytest.raises(FileFormatError, match="expected N×6"):
        read_pairs(tmp_path / "p.npy")


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".txt"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\x80", b"PK\x03\x04cut"])
def test_damaged_files_give_one_kind_of_error(tmp_path, suffix, content):
    path = tmp_path / f"p{suffix}"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=str(path)):
        read_pairs(path)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_truncated_binary_files(tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    write_pairs(path, points(100, 3), points(100, 3))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(FileFormatError, match=r"needs at least|not a \.npz"):
        read_pairs(path)


def test_missing_file_folder_and_unknown_suffix(tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        read_pairs(tmp_path / "none.npz")
    with pytest.raises(FileFormatError, match=r"unknown suffix '.ply': expected .npz"):
        read_pairs(tmp_path / "a.ply")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_pairs(tmp_path / "folder.txt")


def test_refused_and_failed_writes_leave_the_old_file_alone(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("old")
    with pytest.raises(InputError, match=r"holds only the pairs, not noise_bound: use \.npz"):
        write_pairs(path, points(4, 3), points(4, 3), noise_bound=1.0)
    with pytest.raises(InputError, match=r"source has shape \(3, 4\)"):
        write_pairs(path, points(3, 4), points(4, 3))
    with pytest.raises(InputError, match="source has 4 points and target 5"):
        write_pairs(path, points(4, 3), points(5, 3))
    with pytest.raises(InputError, match="unknown suffix"):
        write_pairs(tmp_path / "p.xyz", points(4, 3), points(4, 3))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_breaks_half_way_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "p.csv"
    path.write_text("old")

    def full_disk(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savetxt", full_disk)
    with pytest.raises(OSError, match="disk full"):
        write_pairs(path, points(4, 3), points(4, 3))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
