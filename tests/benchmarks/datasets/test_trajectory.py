"""gt.log and gt.info: what is read, and what is said of files that are not right."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.datasets.rules import official_rmse
from benchmarks.datasets.trajectory import read_info, read_log
from tear3d.errors import FileFormatError, InputError
from tests.benchmarks.datasets.make import fragment, information, true_motion, write_info, write_log
from tests.bumpy import apply, pose

PAIRS = [(0, 1), (0, 2), (1, 3)]


def test_motions_are_read_as_they_were_written(tmp_path):
    write_log(tmp_path / "gt.log", PAIRS)
    poses = read_log(tmp_path / "gt.log")
    assert list(poses) == PAIRS
    for (i, j), motion in poses.items():
        np.testing.assert_allclose(motion, true_motion(j, i), atol=1e-11)


def test_spaces_blank_lines_and_windows_ends_do_not_matter(tmp_path):
    write_log(tmp_path / "gt.log", PAIRS)
    text = (tmp_path / "gt.log").read_text()
    (tmp_path / "other.log").write_bytes(("\n" + text.replace("\t", "   ").replace("\n", " \r\n")).encode())
    first, second = read_log(tmp_path / "gt.log"), read_log(tmp_path / "other.log")
    assert all(np.array_equal(first[key], second[key]) for key in PAIRS)


def changed(lines: list[str], line: int, text: str | None) -> list[str]:
    return lines[:line] + ([] if text is None else [text]) + lines[line + 1 :]


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (0, "0 1", "line 1: expected a line `i j n`"),
        (0, "0 1.5 4", "line 1: expected a line `i j n`"),
        (5, "0 1 4", "line 6: the pair 0 1 is there twice"),
        (2, "1 2 3", "line 3: 3 numbers: expected 4"),
        (2, "a b c d", "line 3: 'a b c d': expected numbers only"),
        (3, None, "line 5: 3 numbers: expected 4"),
        (-1, None, "ends within the matrix of 1 3"),
        (4, "0 0 0 2", "matrix of 0 1 is no rigid motion"),
        (1, "nan 0 0 0", "matrix of 0 1 is no rigid motion"),
        (1, "3 0 0 0", "matrix of 0 1 is no rigid motion"),
    ],
)
def test_a_malformed_log_is_named_with_its_line(tmp_path, line, text, said):
    path = tmp_path / "gt.log"
    write_log(path, PAIRS)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(changed(lines, line % len(lines), text)))
    with pytest.raises(FileFormatError, match=r"gt\.log") as error:
        read_log(path)
    assert said in str(error.value)


def test_no_log_an_empty_one_and_one_that_is_not_text(tmp_path):
    path = tmp_path / "gt.log"
    with pytest.raises(InputError, match="no such file"):
        read_log(path)
    path.write_text("\n")
    with pytest.raises(FileFormatError, match="is empty"):
        read_log(path)
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(FileFormatError, match="is not text"):
        read_log(path)


def test_information_gives_the_rmse_of_the_points(tmp_path):
    write_info(tmp_path / "gt.info", PAIRS)
    points = fragment(2)
    info = read_info(tmp_path / "gt.info")[0, 2]
    np.testing.assert_allclose(info, information(points), rtol=1e-8)
    truth = true_motion(2, 0)
    for turn, shift in (([1e-3, 0.0, -2e-3], [0.0, 0.0, 0.0]), ([0.0, 2e-3, 1e-3], [1e-2, -5e-3, 2e-3])):
        found = truth @ pose(turn, shift)
        direct = np.sqrt(np.mean(np.sum((apply(found, points) - apply(truth, points)) ** 2, axis=1)))
        assert official_rmse(found, truth, info) == pytest.approx(direct, rel=0.01)
        # The other way round it would be another number: the points lie far from the origin.
        assert official_rmse(np.linalg.inv(found), np.linalg.inv(truth), info) != pytest.approx(direct, rel=0.01)
    assert official_rmse(truth, truth, info) == pytest.approx(0.0, abs=1e-6)
    assert official_rmse(np.full((4, 4), np.nan), truth, info) == np.inf
