"""Pairs in files: read in pieces as they are, and refused with the file's name."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.errors import FileFormatError, InputError
from tear3d.stream.files import open_pairs, open_rows
from tear3d.stream.rows import ArrayRows, JoinedRows, is_mapped


@pytest.fixture
def numbers():
    return np.random.default_rng(0).normal(size=(1000, 6)).astype(np.float32)


def write_parts(folder, numbers, edges=(0, 300, 301, 1000)):
    paths = [folder / f"{k}.npy" for k in range(len(edges) - 1)]
    for path, start, stop in zip(paths, edges, edges[1:], strict=False):
        np.save(path, numbers[start:stop])
    return paths


def test_one_file_after_the_other(tmp_path, numbers):
    pairs = open_pairs(write_parts(tmp_path, numbers))
    assert pairs.source.shape == pairs.target.shape == (1000, 3)
    assert pairs.noise_bound is pairs.weights is None
    for start, stop in ((0, 1000), (299, 302), (301, 301), (10, 20), (900, 1000)):
        if start < stop:
            assert np.array_equal(pairs.source.read(start, stop), numbers[start:stop, :3])
            assert np.array_equal(pairs.target.read(start, stop), numbers[start:stop, 3:])
    assert pairs.source.read(0, 5).dtype == np.float32


def test_what_was_read_is_let_go(tmp_path):
    """Pages of a mapped file do not stay in the process."""
    np.save(tmp_path / "big.npy", np.ones((4_000_000, 3)))
    mapped = np.load(tmp_path / "big.npy", mmap_mode="r")
    rows = ArrayRows(mapped)
    assert is_mapped(mapped)
    before = resident_file_pages()
    total = sum(float(rows.read(k, k + 500_000).sum()) for k in range(0, 4_000_000, 500_000))
    assert total == 12_000_000.0
    assert resident_file_pages() - before < 20 << 20
    assert np.array_equal(mapped[:2], np.ones((2, 3)))


def test_changes_in_memory_are_not_lost(tmp_path):
    """A map that was changed privately is read as it is, and stays so."""
    np.save(tmp_path / "a.npy", np.zeros((100_000, 3)))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c")
    mapped[5] = 7.0
    assert not is_mapped(mapped)
    rows = ArrayRows(mapped)
    assert rows.read(0, 100_000)[5, 0] == rows.read(0, 100_000)[5, 0] == 7.0


def resident_file_pages() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssFile"))


def test_parquet(tmp_path, numbers):
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    names = [f"{side}_{axis}" for side in ("source", "target") for axis in "xyz"]
    columns = {name: numbers[:, k] for k, name in enumerate(names)}
    columns |= {"xi": np.full(1000, 0.5), "weights": np.arange(1000.0), "label": np.array(["a"] * 1000)}
    parquet.write_table(arrow.table(columns), tmp_path / "pairs.parquet", row_group_size=170)
    pairs = open_pairs(tmp_path / "pairs.parquet")
    assert np.array_equal(pairs.source.read(100, 900), numbers[100:900, :3])
    assert np.array_equal(pairs.target.read(0, 1000), numbers[:, 3:])
    assert np.array_equal(pairs.weights.read(500, 700), np.arange(500.0, 700.0))
    assert pairs.noise_bound.shape == (1000,)
    assert pairs.source.edges == (0, 170, 340, 510, 680, 850)
    parquet.write_table(arrow.table({"x": [1.0], "y": [1.0]}), tmp_path / "other.parquet")
    with pytest.raises(FileFormatError, match=r"other\.parquet: has no column of numbers 'source_x'"):
        open_pairs(tmp_path / "other.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(FileFormatError, match=r"bad\.parquet: cannot be read as Parquet"):
        open_pairs(tmp_path / "bad.parquet")
    both = open_rows([tmp_path / "other.parquet", tmp_path / "other.parquet"])
    assert both.shape == (2, 2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: None, r"a\.npy: no such file"),
        (lambda path: path.write_bytes(b"no"), r"a\.npy: cannot be read as \.npy"),
        (lambda path: np.save(path, np.zeros((5, 3))), r"a\.npy: has shape \(5, 3\): expected N×6"),
        (lambda path: np.save(path, np.zeros((5, 6), complex)), r"a\.npy: has dtype complex128"),
        (lambda path: np.save(path, np.array([{}])), r"a\.npy: cannot be read as \.npy"),
    ],
)
def test_files_that_are_none(tmp_path, make, text):
    make(tmp_path / "a.npy")
    with pytest.raises(FileFormatError, match=text):
        open_pairs(tmp_path / "a.npy")


def test_files_that_do_not_fit(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 3)))
    np.save(tmp_path / "b.npy", np.zeros(5))
    with pytest.raises(InputError, match="expected as many columns"):
        open_rows([tmp_path / "a.npy", tmp_path / "b.npy"])
    with pytest.raises(InputError, match="no files given"):
        open_pairs([])
    with pytest.raises(FileFormatError, match="unknown suffix"):
        open_pairs(tmp_path / "a.las")


def test_joined_edges():
    parts = [ArrayRows(np.zeros((4, 3))), ArrayRows(np.zeros((6, 3), np.float32))]
    joined = JoinedRows(parts)
    assert joined.shape == (10, 3)
    assert joined.dtype == np.float64
    assert joined.edges == ()


def test_register_reads_paths(tmp_path):
    given = tear3d.synthetic.make_problem(3000, outlier_ratio=0.8, seed=0)
    for k, name in enumerate(("x0", "x1")):
        np.save(tmp_path / f"{name}.npy", given.source[1500 * k : 1500 * (k + 1)])
    np.save(tmp_path / "y.npy", given.target)
    paths = [tmp_path / "x0.npy", str(tmp_path / "x1.npy")]
    found = tear3d.register(paths, tmp_path / "y.npy", noise_bound=given.noise_bound)
    plain = tear3d.register(given.source, given.target, noise_bound=given.noise_bound)
    assert np.array_equal(found.transformation, plain.transformation)
