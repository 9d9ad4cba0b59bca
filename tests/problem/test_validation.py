"""Every kind of bad input has its own message, which names the argument, what is wrong and what is expected."""

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError, TearError
from tear3d.problem.validation import check_options, check_pairs

RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.normal(size=(10, 3)), RNG.normal(size=(10, 3))
LINE = np.outer(np.arange(10.0), [1.0, 2.0, 3.0])
OPTIONS = {
    "loss": "tear",
    "time_limit": None,
    "node_limit": None,
    "rel_gap": 1e-3,
    "threads": None,
    "seed": 0,
    "certify": True,
    "progress": None,
    "bounds": "sharp",
}


def changed(points, index, value):
    points = points.copy()
    points[index] = value
    return points


def first(count):
    """1 for the first pairs, 0 for the others."""
    return (np.arange(10) < count).astype(float)


BAD_PAIRS = {
    "columns are points": ({"source": SOURCE.T}, "source has 3 rows and 10 columns: pass points as rows (N×3)"),
    "two columns": ({"target": TARGET[:, :2]}, "target has 10 rows and 2 columns: pass points as rows (N×3)"),
    "one dimension": ({"source": SOURCE[0]}, "source has 1 dimensions: pass points as rows (N×3)"),
    "ragged": ({"source": [[1.0, 2.0, 3.0], [1.0, 2.0]]}, "source cannot be made an array"),
    "complex": ({"source": SOURCE + 1j}, "source has dtype complex128: expected real numbers"),
    "text": ({"target": TARGET.astype(str)}, "target has dtype <U"),
    "bool": ({"target": TARGET > 0.0}, "target has dtype bool: expected real numbers"),
    "nan": (
        {"source": changed(SOURCE, (4, 1), np.nan)},
        "source has 1 of 10 points with NaN or infinite coordinates (first at row 4)",
    ),
    "infinite": (
        {"target": changed(TARGET, ([2, 7], 0), np.inf)},
        "target has 2 of 10 points with NaN or infinite coordinates (first at row 2)",
    ),
    "unequal lengths": ({"target": TARGET[:9]}, "source has 10 points and target 9: row i of one must be matched"),
    "two pairs": ({"source": SOURCE[:2], "target": TARGET[:2]}, "source has 2 points: a pose needs at least 3 pairs"),
    "no pairs": (
        {"source": np.empty((0, 3)), "target": np.empty((0, 3))},
        "source has 0 points: a pose needs at least 3 pairs",
    ),
    "source collinear": ({"source": LINE}, "all source points lie on one line"),
    "target collinear": ({"target": LINE + 1e6}, "all target points lie on one line"),
    "source coincident": ({"source": np.ones((10, 3))}, "all source points coincide"),
    "target coincident": ({"target": np.full((10, 3), 1e7)}, "all target points coincide"),
    "coincident but for rounding": ({"source": 1e9 + 1e-7 * SOURCE}, "all source points coincide"),
    "collinear where it counts": (
        {"source": changed(LINE, slice(7, None), SOURCE[7:]), "weights": first(7)},
        "all source points lie on one line",
    ),
    "zero noise bound": ({"noise_bound": 0.0}, "noise_bound is 0"),
    "negative noise bound": ({"noise_bound": -0.1}, "noise_bound has negative entries (the first at 0)"),
    "nan noise bound": ({"noise_bound": np.nan}, "noise_bound has NaN or infinite entries"),
    "infinite noise bound": ({"noise_bound": np.inf}, "noise_bound has NaN or infinite entries"),
    "text noise bound": ({"noise_bound": "small"}, "noise_bound is not numeric: expected a number or one per pair"),
    "no noise bound": ({"noise_bound": None}, "noise_bound "),
    "too few noise bounds": ({"noise_bound": np.ones(9)}, "noise_bound has shape (9,): expected a number or one per"),
    "square noise bounds": ({"noise_bound": np.ones((10, 1))}, "noise_bound has shape (10, 1): expected a number or"),
    "negative noise bound of a pair": (
        {"noise_bound": changed(np.ones(10), 3, -1.0)},
        "noise_bound has negative entries (the first at 3)",
    ),
    "no positive noise bound": ({"noise_bound": np.zeros(10)}, "noise_bound is 0 for every pair"),
    "two positive noise bounds": ({"noise_bound": first(2)}, "only 2 pairs have a positive weight and noise bound"),
    "two positive weights": ({"weights": first(2)}, "only 2 pairs have a positive weight and noise bound"),
    "negative weight": ({"weights": changed(np.ones(10), 6, -1.0)}, "weights has negative entries (the first at 6)"),
    "nan weight": ({"weights": changed(np.ones(10), 6, np.nan)}, "weights has NaN or infinite entries"),
    "too many weights": ({"weights": np.ones(11)}, "weights has shape (11,): expected a number or one per pair (10)"),
}

BAD_OPTIONS: dict[str, tuple[object, str]] = {
    "loss": ("huber", "loss is 'huber': expected one of 'tear', 'cm', 'tls'"),
    "bounds": ("exact", "bounds is 'exact': expected one of 'sharp', 'sweep'"),
    "certify": ("yes", "certify is 'yes': expected True, False or 'full'"),
    "progress": (3, "progress is 3: expected a function of one argument"),
    "rel_gap": (0.0, "rel_gap is 0: expected a number between 0 and 1"),
    "time_limit": (-1.0, "time_limit is -1: expected seconds, 0 or more"),
    "node_limit": (2.5, "node_limit is 2.5: expected a whole number, 0 or more"),
    "threads": (0, "threads is 0: expected a whole number, 1 or more"),
    "seed": (-1, "seed is -1: expected a whole number, 0 or more"),
}

MORE_BAD_OPTIONS: list[tuple[str, object, str]] = [
    ("loss", None, "loss is None: expected one of"),
    ("loss", [], "loss is []: expected one of"),
    ("rel_gap", 1.0, "rel_gap is 1: expected a number between 0 and 1"),
    ("rel_gap", "fine", "rel_gap is 'fine': expected a number"),
    ("rel_gap", np.nan, "rel_gap is NaN: expected a number"),
    ("time_limit", "1 s", "time_limit is '1 s': expected a number"),
    ("node_limit", -1, "node_limit is -1: expected a whole number, 0 or more"),
    ("node_limit", np.inf, "node_limit is inf: expected a whole number"),
    ("threads", 1.5, "threads is 1.5: expected a whole number, 1 or more"),
    ("seed", "x", "seed is 'x': expected a number"),
]


@pytest.mark.parametrize("case", BAD_PAIRS)
def test_bad_pairs(case):
    arguments, message = BAD_PAIRS[case]
    given = {"source": SOURCE, "target": TARGET, "noise_bound": 0.1, "weights": None} | arguments
    with pytest.raises(InputError) as caught:
        check_pairs(**given)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "value", "message"), [(name, *case) for name, case in BAD_OPTIONS.items()] + MORE_BAD_OPTIONS
)
def test_bad_options(name, value, message):
    with pytest.raises(InputError) as caught:
        check_options(**(OPTIONS | {name: value}))
    assert str(caught.value).startswith(message)


def test_every_option_has_a_bad_case():
    assert set(BAD_OPTIONS) == set(OPTIONS)


def test_register_raises_before_any_work():
    def never(_):
        pytest.fail("the search has begun")

    with pytest.raises(ValueError, match=r"source has 3 rows and 10 columns: pass points as rows \(N×3\)") as caught:
        tear3d.register(SOURCE.T, TARGET, noise_bound=0.1, progress=never)
    assert isinstance(caught.value, TearError)
    with pytest.raises(InputError, match="threads is 0"):
        tear3d.register(SOURCE, TARGET, noise_bound=0.1, threads=0, progress=never)


def test_what_is_accepted():
    pairs = check_pairs(SOURCE.tolist(), TARGET.astype(np.float32), np.full(10, 0.2), np.full(10, 1.0))
    assert len(pairs) == 10
    assert pairs.source.dtype == pairs.target.dtype == np.float64
    np.testing.assert_array_equal(pairs.xi, [0.2])
    np.testing.assert_array_equal(pairs.w, [1.0])
    mixed = check_pairs(SOURCE, TARGET, first(5), first(7) + 1.0)
    np.testing.assert_array_equal(mixed.xi, first(5))
    np.testing.assert_array_equal(mixed.w, first(7) + 1.0)
    flat = SOURCE * [1.0, 1.0, 0.0]
    assert len(check_pairs(flat, TARGET, 0.1, None)) == 10
    assert len(check_pairs(np.arange(30).reshape(10, 3) ** 2, TARGET, 1, None)) == 10
    assert len(check_pairs(SOURCE + np.array([5e5, 4e6, 100.0]), TARGET, 0.1, None)) == 10


def test_options_are_turned_into_their_types():
    options = check_options(**(OPTIONS | {"time_limit": 2, "node_limit": 100.0, "seed": np.int64(3), "threads": None}))
    assert (options.time_limit, options.node_limit, options.seed) == (2.0, 100, 3)
    assert options.threads >= 1
    assert isinstance(options.node_limit, int)
