"""Damaged, lying and exploding NumPy files: clouds, pairs, poses and truth go through one reader."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tear3d.cli.truth import read_truth
from tear3d.errors import FileFormatError, InputError
from tear3d.io import read_cloud, read_pose
from tear3d.io.pairs import read_pairs

POINTS = np.random.default_rng(0).normal(size=(20, 3))
READERS: dict[str, Callable[[Path], object]] = {
    "points": read_cloud,
    "source": read_pairs,
    "transformation": lambda path: read_truth(path, 20),
}


def npy(header: object, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = str(header).encode("latin-1") + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text + body


def plain(shape: object, descr: object = "<f8", order: object = False) -> dict[str, object]:
    return {"descr": descr, "fortran_order": order, "shape": shape}


def npz(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def array(values: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values))
    return buffer.getvalue()


def complete(**changed: bytes) -> dict[str, bytes]:
    """The members of an archive that every reader takes, but for what is changed."""
    names = {"points": POINTS, "source": POINTS, "target": POINTS, "transformation": np.eye(4)}
    return {name: array(values) for name, values in names.items()} | changed


BODY = bytes(480)
BAD = {
    "no magic": b"hello world",
    "nothing": b"",
    "cut in the magic": b"\x93NUM",
    "cut in the length": b"\x93NUMPY\x01\x00\x10",
    "cut in the header": npy(plain((20, 3)))[:40],
    "version": npy(plain((20, 3)), BODY, b"\x04\x00"),
    "long header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + BODY,
    "token error": npy("{'descr': '<f8', 'shape': ('''", BODY),
    "syntax error": npy("{'descr': '<f8' 'shape'", BODY),
    "nested": npy("(" * 9000, BODY),
    "signs": npy("-" * 9000 + "1", BODY),
    "digits": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ", 3)}", BODY),
    "call": npy("__import__('os').getcwd()", BODY),
    "keys": npy({"descr": "<f8", "shape": (20, 3)}, BODY),
    "descr": npy(plain((20, 3), "nonsense"), BODY),
    "huge type": npy(plain((20, 3), "V99999999999"), BODY),
    "dates": npy(plain((20, 3), "<M8[ns]"), BODY),
    "complex": npy(plain((20, 3), "<c16"), 2 * BODY),
    "strings": npy(plain((20, 3), "<U2"), BODY),
    "objects": npy(plain((20, 3), "|O"), BODY),
    "void": npy(plain((20, 3), "|V8"), BODY),
    "negative": npy(plain((-20, -3)), BODY),
    "booleans": npy(plain((True, 3)), BODY),
    "list": npy(plain([20, 3]), BODY),
    "order": npy(plain((20, 3), order=1), BODY),
    "rows": npy(plain((10**12, 3)), BODY),
    "overflow": npy(plain((2**63, 3)), BODY),
    "axes": npy(plain((1,) * 100), BODY),
    "short": npy(plain((20, 3)), BODY[:-1]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("key", READERS)
@pytest.mark.parametrize("what", BAD)
def test_bad_arrays_in_archives(tmp_path, what, key, caplog):
    path = tmp_path / "a.npz"
    path.write_bytes(npz(complete(**{key: BAD[what]})))
    check_refused(READERS[key], path, caplog)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("what", BAD)
def test_bad_arrays_alone(tmp_path, what, caplog):
    path = tmp_path / "a.npy"
    path.write_bytes(BAD[what].replace(b"(20, 3)", b"(10, 6)"))
    check_refused(read_pairs, path, caplog)
    path.write_bytes(BAD[what])
    check_refused(read_cloud, path, caplog)


def check_refused(reader: Callable[[Path], object], path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tracemalloc.start()
    message = ""
    try:
        if reader(path) is None:
            # A truth that is sound but no pose is not compared with, and that is all.
            message = caplog.text
    except FileFormatError as error:
        message = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert str(path) in message
    assert peak < 20e6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (POINTS.tobytes()[:8], b"8 bytes!", "CRC"),
        (b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00", "encrypted"),
        (b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x63\x00", "method 99"),
        (b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x0c\x00", "method 12"),
        (b"target.npy", b"source.npy", "two arrays of the name source"),
        (b"PK\x05\x06", b"PK\x05\x07", "damaged"),
    ],
)
def test_bad_archives(tmp_path, old, new, message):
    path = tmp_path / "a.npz"
    content = npz(complete())
    assert old in content
    path.write_bytes(content.replace(old, new))
    for reader in (read_cloud, read_pairs) if message == "CRC" else (read_cloud, read_pairs, read_pose):
        with pytest.raises(FileFormatError, match=message) as error:
            reader(path)
        assert str(path) in str(error.value)


def test_bytes_after_the_array_do_not_escape_the_checksum(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(complete(source=array(POINTS) + b"more", points=array(POINTS) + b"more")))
    for reader in (read_cloud, read_pairs):
        with pytest.raises(FileFormatError, match=r"needs .* bytes, but the archive holds"):
            reader(tmp_path / "a.npz")


def bomb(path: Path, names: list[str], rows: int) -> None:
    """Deflated zeros, each array of rows × 3 bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            with archive.open(f"{name}.npy", "w") as handle:
                handle.write(npy(plain((rows, 3), "|i1")))
                for start in range(0, rows, 1 << 20):
                    handle.write(bytes(3 * min(1 << 20, rows - start)))


@pytest.mark.parametrize(("reader", "names"), [(read_cloud, ["points"]), (read_pairs, ["source", "target"])])
def test_what_expands_too_far_is_refused_before_it_does(tmp_path, reader, names):
    path = tmp_path / "a.npz"
    rows = (1 << 28) // (27 * len(names)) + 1
    bomb(path, names, rows)
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=r"a\.npz: .* pass max_bytes=\d+ or more"):
            reader(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_max_bytes_is_the_limit(tmp_path):
    path = tmp_path / "a.npz"
    bomb(path, ["points", "source", "target"], 1000)
    read_cloud(path, max_bytes=27_000)
    with pytest.raises(FileFormatError, match=r"27000 bytes of memory, and 26999 are allowed.*max_bytes=27000"):
        read_cloud(path, max_bytes=26_999)
    read_pairs(path, max_bytes=54_000)
    with pytest.raises(FileFormatError, match=r"54000 bytes of memory.*max_bytes=54000"):
        read_pairs(path, max_bytes=53_999)
    for value in (0, -1, 1.5, True, "4G"):
        with pytest.raises(InputError, match="max_bytes is"):
            read_cloud(path, max_bytes=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_size_that_the_archive_cannot_hold(tmp_path, method):
    path = tmp_path / "a.npz"
    content = bytearray(npz(complete(), method))
    at = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, at + 24, 2**32 - 2)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="the array points needs at least 4294967294 bytes"):
        read_cloud(path)


@pytest.mark.parametrize("header", [plain((20, 3)), "{'descr': '<f8', 'fortran_order': False, 'shape': (20L, 3L), }"])
@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00"])
def test_every_version_and_the_numbers_of_python_2(tmp_path, header, version):
    (tmp_path / "a.npy").write_bytes(npy(header, POINTS.tobytes(), version))
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.npy"), POINTS)


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2", "<i2", ">u8", "|i1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pairs_of_every_type_are_mapped(tmp_path, dtype, order):
    pairs = np.asarray(np.arange(60).reshape(10, 6), dtype, order)
    np.save(tmp_path / "a.npy", pairs)
    found = read_pairs(tmp_path / "a.npy")
    np.testing.assert_array_equal(np.hstack(found[:2]), pairs)
    assert isinstance(found.source, np.memmap)


def test_pairs_out_of_step_with_memory_are_copied(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy(str(plain((10, 6))) + " " * 3, bytes(480)))
    found = read_pairs(tmp_path / "a.npy")
    assert found.source.flags.aligned
    np.save(tmp_path / "a.npy", np.empty((0, 6)))
    with pytest.raises(FileFormatError, match="no pairs"):
        read_pairs(tmp_path / "a.npy")


def test_truth_of_any_bytes_is_a_mask_of_bools(tmp_path):
    mask = npy(plain((20,), "|b1"), bytes([0, 1, 2, 255]) * 5)
    (tmp_path / "a.npz").write_bytes(npz(complete(inlier_mask=mask)))
    truth = read_truth(tmp_path / "a.npz", 20)
    assert truth is not None
    assert truth.inlier_mask is not None
    np.testing.assert_array_equal(truth.inlier_mask.view(np.uint8), [0, 1, 1, 1] * 5)
