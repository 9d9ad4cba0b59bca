"""Points and numbers from whatever holds them; what cannot be one is refused by name."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.problem.arrays import LARGEST, Summary, as_correspondences, as_numbers, as_points

POINTS = np.random.default_rng(0).normal(size=(10, 3))


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


def complaint(function, *arguments):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    return str(caught.value)


ROWS = "pass points as rows (N×3)"
BAD_POINTS = {
    "columns are points": (POINTS.T, f"cloud has 3 rows and 10 columns: {ROWS}"),
    "two columns": (POINTS[:, :2], f"cloud has 10 rows and 2 columns: {ROWS}"),
    "one dimension": (POINTS[0], f"cloud has 1 dimensions: {ROWS}"),
    "a number": (1.0, f"cloud has 0 dimensions: {ROWS}"),
    "None": (None, "cloud has 0 dimensions"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], "cloud cannot be made an array"),
    "complex": (POINTS + 1j, "cloud has dtype complex128: expected real numbers"),
    "text": (POINTS.astype(str), "cloud has dtype <U"),
    "bytes": (POINTS.astype("S"), "cloud has dtype |S"),
    "bool": (POINTS > 0.0, "cloud has dtype bool: expected real numbers"),
    "spans of time": (np.ones((10, 3), "m8[s]"), "cloud has dtype timedelta64[s]: expected real numbers"),
    "dates": (np.ones((10, 3), "M8[s]"), "cloud has dtype datetime64[s]: expected real numbers"),
    "objects": (POINTS.astype(object), "cloud has numbers too large for float64, or no numbers"),
    "huge integers": (changed(POINTS.astype(object), (2, 1), 10**400).tolist(), "cloud "),
    "only huge integers": ([[10**400] * 3] * 4, "cloud has numbers too large for float64, or no numbers"),
    "masked": (np.ma.array(POINTS, mask=POINTS > 1.0), "cloud is a masked array, and the mask would be lost"),
    "masked nothing": (np.ma.array(POINTS), "cloud is a masked array"),
    "nan": (
        changed(POINTS, (4, 1), np.nan),
        "cloud has 1 of 10 points with NaN or infinite coordinates (first at row 4): remove them",
    ),
    "infinite": (
        changed(POINTS, ([2, 7], 0), -np.inf),
        "cloud has 2 of 10 points with NaN or infinite coordinates (first at row 2)",
    ),
    "squares overflow": (changed(POINTS, (6, 2), -1e155), "cloud has coordinates beyond 1e+150 (row 6)"),
    "beyond float64": (
        changed(POINTS.astype(np.longdouble), (3, 0), np.longdouble("1e400")),
        "cloud has 1 of 10 points with NaN or infinite coordinates (first at row 3)"
        if np.finfo(np.longdouble).max > np.finfo(np.float64).max
        else "cloud has",
    ),
}


@pytest.mark.parametrize("case", BAD_POINTS)
def test_bad_points_are_refused_by_name(case):
    given, message = BAD_POINTS[case]
    assert complaint(as_points, given, "cloud").startswith(message)


@pytest.mark.parametrize(
    "given",
    [
        POINTS,
        POINTS.tolist(),
        POINTS.astype(np.longdouble),
        POINTS.astype(">f8"),
        np.asfortranarray(POINTS),
        np.repeat(POINTS, 2, axis=0)[::2],
        SimpleNamespace(points=POINTS.tolist()),
        SimpleNamespace(point={"positions": SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: POINTS.copy()))}),
    ],
    ids=["array", "list", "float128", "big endian", "columns first", "strided", "cloud", "tensor cloud"],
)
def test_good_points_become_contiguous_float64(given):
    points = as_points(given, "cloud")
    assert points.dtype == np.float64
    assert points.dtype.isnative
    assert points.flags.c_contiguous
    np.testing.assert_array_equal(points, POINTS)


def test_points_of_other_precision_and_size():
    np.testing.assert_array_equal(as_points(POINTS.astype(np.float32), "cloud"), POINTS.astype(np.float32))
    np.testing.assert_array_equal(
        as_points(np.arange(6, dtype=np.uint8).reshape(2, 3), "cloud"), [[0, 1, 2], [3, 4, 5]]
    )
    assert as_points(np.empty((0, 3)), "cloud").shape == (0, 3)
    edge = changed(POINTS, (0, 0), -LARGEST)
    np.testing.assert_array_equal(as_points(edge, "cloud"), edge)


ONE_PER_PAIR = "expected a number or one per pair"
BAD_NUMBERS = {
    "text": ("0.05", "bound has dtype <U4: expected real numbers"),
    "word": ("small", "bound has dtype <U5: expected real numbers"),
    "list of texts": (["0.05"] * 10, "bound has dtype <U4"),
    "None": (None, "bound has numbers too large for float64, or no numbers"),
    "truth": (True, "bound has dtype bool: expected real numbers"),
    "truths": ([True] * 10, "bound has dtype bool"),
    "complex": (0.1 + 0j, "bound has dtype complex128"),
    "decimal": (Decimal("0.1"), "bound has numbers too large for float64, or no numbers"),
    "huge": (10**400, "bound has numbers too large for float64, or no numbers"),
    "huge in a list": ([0.1] * 9 + [10**400], "bound "),
    "masked": (np.ma.array(np.ones(10)), "bound is a masked array"),
    "ragged": ([[1.0], [1.0, 2.0]], "bound cannot be made an array"),
    "too few": (np.ones(9), f"bound has shape (9,): {ONE_PER_PAIR} (10)"),
    "too many": (np.ones(11), f"bound has shape (11,): {ONE_PER_PAIR} (10)"),
    "none at all": ([], f"bound has shape (0,): {ONE_PER_PAIR} (10)"),
    "a column": (np.ones((10, 1)), f"bound has shape (10, 1): {ONE_PER_PAIR}"),
    "nan": (np.nan, "bound is nan: expected a finite number, 0 or more"),
    "infinite": (changed(np.ones(10), 7, np.inf), "bound has NaN or infinite entries (first at 7)"),
    "negative": (-0.1, "bound is -0.1: expected a finite number, 0 or more"),
    "negative once": (changed(np.ones(10), 3, -5e-324), "bound has negative entries (the first at 3)"),
    "squares overflow": (changed(np.ones(10), 4, 1e151), "bound has entries beyond 1e+150 (the first at 4)"),
    "nearly infinite": (1e308, "bound is 1e+308: expected a finite number, 0 or more, at most 1e+150"),
}


@pytest.mark.parametrize("case", BAD_NUMBERS)
def test_bad_numbers_are_refused_by_name(case):
    given, message = BAD_NUMBERS[case]
    assert complaint(as_numbers, given, "bound", 10).startswith(message)


@pytest.mark.parametrize("given", [1, 0.5, np.float32(0.5), np.int8(3), np.array(2.0), [0.5], np.longdouble(0.25)])
def test_one_number_for_all(given):
    numbers = as_numbers(given, "bound", 10)
    assert (numbers.dtype, numbers.shape) == (np.float64, (1,))
    assert numbers[0] == float(np.ravel(given)[0])


def test_one_number_per_pair():
    numbers = as_numbers(range(10), "bound", 10)
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, np.arange(10.0))
    assert as_numbers(np.arange(20.0)[::2], "bound", 10).flags.c_contiguous


def test_correspondences():
    pairs = as_correspondences([[0, 3], [2, 1]])
    assert pairs.dtype == np.int64
    np.testing.assert_array_equal(pairs, [[0, 3], [2, 1]])
    np.testing.assert_array_equal(as_correspondences(SimpleNamespace(correspondence_set=pairs)), pairs)
    assert as_correspondences([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0, 1, 2]], r"matches has shape \(1, 3\): pass pairs of row numbers as rows \(M×2\)"),
        ([0, 1], r"matches has shape \(2,\)"),
        ([[0.0, 1.0]], "matches has dtype float64: expected integer row numbers"),
        ([["0", "1"]], "matches has dtype <U1"),
        ([[0, -2]], "matches has the row number -2: expected none below 0"),
        (np.ma.array([[0, 1]]), "matches is a masked array"),
    ],
)
def test_bad_correspondences(given, message):
    with pytest.raises(InputError, match=message):
        as_correspondences(given, "matches")


@pytest.mark.parametrize("n", [3, 16_384, 40_001])
def test_summaries_are_what_numpy_says(n):
    points = np.random.default_rng(n).normal(size=(n, 3)) + np.array([5.0, -7.0, 0.0])
    summary = Summary.of(points)
    assert summary.largest == np.abs(points).max()
    np.testing.assert_allclose(summary.mean, points.mean(axis=0), rtol=1e-12)
    for bad in (np.nan, np.inf, -np.inf):
        points[n // 2, 1] = bad
        assert not summary.of(points).largest <= LARGEST
