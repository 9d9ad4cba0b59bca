"""Rows without a measurement, and digits that float32 has not, in every format that can hold them."""

import logging

import numpy as np
import pytest

from tear3d.errors import FileFormatError
from tear3d.io import read_cloud
from tests.io import test_formats as formats

WHOLE = {"las", "laz", "laz_14"}
"""These count in steps from an offset and have no NaN."""


def e57(path, points, monkeypatch, **fields):
    """A scan with double precision, which the package can read and does not write of itself."""
    package = pytest.importorskip("pye57")
    file = package.E57(str(path), mode="w")
    with monkeypatch.context() as patch:
        patch.setattr(package.e57.libe57, "E57_SINGLE", package.libe57.E57_DOUBLE)
        file.write_scan_raw({f"cartesian{a}": points[:, i].copy() for i, a in enumerate("XYZ")} | fields)
    file.close()
    return path


@pytest.mark.parametrize("kind", sorted(set(formats.KINDS) - WHOLE - {"e57"}))
def test_rows_that_are_not_finite_are_dropped_with_their_number_or_kept(tmp_path, caplog, kind):
    points = formats.POINTS.copy()
    points[[3, 7, 8]] = np.nan
    points[11, 1] = np.inf
    path = formats.make(tmp_path, kind, points)
    with caplog.at_level(logging.WARNING):
        kept = read_cloud(path, keep_invalid=True)
    assert not caplog.text
    np.testing.assert_array_equal(np.isfinite(kept), np.isfinite(points))
    with caplog.at_level(logging.WARNING):
        dropped = read_cloud(path)
    assert "dropped 4 of 50 points" in caplog.text
    np.testing.assert_array_equal(dropped, kept[np.isfinite(kept).all(axis=1)])


def test_a_file_without_any_measurement_is_refused_either_way(tmp_path):
    np.save(tmp_path / "a.npy", np.full((4, 3), np.nan))
    for keep in (True, False):
        with pytest.raises(FileFormatError, match="none of its 4 points"):
            read_cloud(tmp_path / "a.npy", keep_invalid=keep)


def test_points_that_an_e57_file_marks_as_invalid(tmp_path, caplog, monkeypatch):
    marks = np.zeros(50, np.int8)
    marks[[0, 20, 21]] = 2
    path = e57(tmp_path / "a.e57", formats.POINTS, monkeypatch, cartesianInvalidState=marks)
    kept = read_cloud(path, keep_invalid=True)
    np.testing.assert_array_equal(np.isnan(kept).all(axis=1), marks != 0)
    np.testing.assert_array_equal(kept[marks == 0], formats.POINTS[marks == 0])
    with caplog.at_level(logging.WARNING):
        assert len(read_cloud(path)) == 47
    assert "dropped 3 of 50 points" in caplog.text


def test_e57_in_double_precision_keeps_it(tmp_path, monkeypatch):
    np.testing.assert_array_equal(read_cloud(e57(tmp_path / "a.e57", formats.POINTS, monkeypatch)), formats.POINTS)


@pytest.mark.parametrize("kind", sorted(set(formats.KINDS) - {"e57", "bin"}))
def test_no_reader_rounds_to_float32(tmp_path, kind):
    """KITTI's files are float32, and E57 files are tested above."""
    points = read_cloud(formats.make(tmp_path, kind, formats.POINTS))
    assert np.count_nonzero(points.astype(np.float32) == points) < 0.2 * points.size
    np.testing.assert_allclose(points, formats.POINTS, rtol=0, atol=1e-4)
