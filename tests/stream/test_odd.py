"""Odd inputs of pairs in pieces: the right answer, or an error that names what is wrong."""

from __future__ import annotations

import os

import numpy as np
import pytest

import tear3d
from tear3d.errors import FileFormatError, InputError
from tear3d.problem.limits import Limits
from tear3d.stream import inputs
from tear3d.stream.checkpoint import Checkpoint
from tear3d.stream.files import open_pairs, open_rows
from tear3d.stream.pieces import Pieces
from tear3d.stream.rows import ArrayRows
from tests.stream.support import pieces_of, problem, solve

LIMIT = 1 << 20


@pytest.fixture(scope="module")
def given():
    return problem(20_000, 0.8)


@pytest.fixture
def small(monkeypatch):
    """Limits for which these few pairs are too many."""
    monkeypatch.setattr(inputs, "LEAST", 1)


def register(given, source=None, target=None, **options):
    how = {"noise_bound": given.noise_bound, "memory_limit": LIMIT, "certify": False} | options
    sides = (given.source if source is None else source), (given.target if target is None else target)
    found = tear3d.register(*sides, **how)
    assert "first look" in found.seconds
    return found


def is_right(found, given):
    same = np.mean(found.inlier_mask == given.inlier_mask) > 0.999
    return same and tear3d.metrics.rotation_error(found.transformation, given.transformation) < 0.5


@pytest.mark.parametrize("dtype", ["f4", ">f8", "f2", "g"])
def test_kinds_of_numbers(small, given, dtype):
    assert is_right(register(given, given.source.astype(dtype), given.target.astype(dtype)), given)


def test_lists_of_numbers(small, given):
    n = len(given.source)
    assert is_right(register(given, noise_bound=[given.noise_bound] * n, weights=(1,) * n), given)


def test_a_limit_holds_when_one_side_is_a_list(small, given):
    assert is_right(register(given, target=given.target.tolist()), given)


def test_no_array_of_points_in_a_file(small, tmp_path, given):
    np.save(tmp_path / "a.npy", np.float64(3.0))
    with pytest.raises(InputError, match=r"source has shape \(\)"):
        register(given, tmp_path / "a.npy")
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    none = [tmp_path / "none.npy"] * 2
    with pytest.raises(InputError, match="source has 0 points"):
        tear3d.register(none, none, noise_bound=1.0)


def test_chunks_that_are_not_what_they_say(small, given):
    array = pytest.importorskip("dask.array", reason="needs dask")
    source, target = (array.from_array(points, chunks=(5_000, 3)) for points in (given.source, given.target))
    assert is_right(register(given, source.rechunk((7_000, 1)), target), given)
    short = source.map_blocks(lambda block: block[:-1], dtype=float, meta=np.empty((0, 3)))
    with pytest.raises(InputError, match=r"source gave an array of shape \(4999, 3\) for rows 0 to 5000"):
        register(given, short, target)
    with pytest.raises(InputError, match="target has chunks of unknown size"):
        register(given, source, target[target[:, 0] > -1e9])
    assert is_right(register(given, source, target, noise_bound=array.from_array(np.array(given.noise_bound))), given)


class Meddling:
    """Does something when a proof has begun."""

    def __init__(self, act) -> None:
        self.act, self.done = act, False

    def __call__(self, report) -> None:
        if report.stage == "pose" and not self.done:
            self.done = True
            self.act()


def overwrite(path):
    with open(path, "r+b") as file:
        file.seek(2_000)
        file.write(bytes(800))


def test_a_file_that_changes(tmp_path, given):
    path = tmp_path / "x.npy"
    np.save(path, given.source)
    pieces = Pieces.of(open_rows(path), ArrayRows(given.target), np.array([given.noise_bound]), np.ones(1), 5_000)
    limits = Limits(progress=Meddling(lambda: overwrite(path)), interval=1e-4)
    with pytest.raises(FileFormatError, match=r"x\.npy: was changed while it was read"):
        solve(pieces, limits=limits, room=1 << 20)


def test_a_file_that_becomes_shorter(tmp_path, given):
    """Between two reads: in the middle of one it would end the process."""
    path = tmp_path / "x.npy"
    np.save(path, given.source)
    rows = open_rows(path)
    assert np.array_equal(rows.read(0, 100), given.source[:100])
    os.truncate(path, 1_000)
    for start in (0, 10_000):
        with pytest.raises(FileFormatError, match=r"x\.npy: became shorter"):
            rows.read(start, start + 100)


def test_a_file_that_is_replaced_or_removed(tmp_path, given):
    """Who opened it has the old one."""
    path = tmp_path / "x.npy"
    np.save(path, given.source)
    rows = open_rows(path)
    np.save(tmp_path / "new.npy", given.target)
    os.replace(tmp_path / "new.npy", path)
    assert np.array_equal(rows.read(0, 100), given.source[:100])
    path.unlink()
    assert np.array_equal(rows.read(100, 200), given.source[100:200])


def test_numbers_that_are_missing_in_a_table(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    names = [f"{side}_{axis}" for side in ("source", "target") for axis in "xyz"]
    columns = {
        name: arrow.array([k, None if name == "target_y" else 5, 7], arrow.int64()) for k, name in enumerate(names)
    }
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table(columns), path)
    target = open_pairs(path).target.read(0, 3)
    assert np.isnan(target[1, 1])
    assert target[2].tolist() == [7.0, 7.0, 7.0]
    twice = arrow.Table.from_arrays([arrow.array([1.0])] * 7, names=[*names, "source_x"])
    parquet.write_table(twice, path)
    with pytest.raises(FileFormatError, match="several columns 'source_x'"):
        open_pairs(path)
    parquet.write_table(arrow.table({name: arrow.array([], arrow.float64()) for name in names}), path)
    assert open_pairs(path).source.read(0, 0).shape == (0, 3)


def test_quick_passes_are_told_of(given):
    """And can be stopped: each is over before the next look at it."""
    seen = []
    limits = Limits(progress=lambda report: seen.append(report.stage) or report.stage != "pose", time_limit=20.0)
    found = solve(pieces_of(given, 10_000), limits=limits, room=1 << 17)
    assert "pose" in seen
    assert found.status == "interrupted"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda folder: 5, "checkpoint is 5: expected a path"),
        (lambda folder: folder / "no" / "a.npz", "checkpoint: .* does not exist"),
        (lambda folder: folder, "checkpoint: .* not a regular file"),
        (lambda folder: saved(folder / "a.npz"), "checkpoint: .* cannot be read"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused_at_once(small, tmp_path, given, make, text):
    with pytest.raises(InputError, match=text):
        register(given, np.full_like(given.source, np.nan), checkpoint=make(tmp_path))


def saved(path):
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    return path


def test_a_full_disk_costs_no_proof(tmp_path, caplog):
    folder = tmp_path / "gone"
    folder.mkdir()
    kept = Checkpoint(folder / "a.npz", {"a": 1})
    folder.rmdir()
    kept.save(x=np.zeros(3))
    assert "was not written" in caplog.text
