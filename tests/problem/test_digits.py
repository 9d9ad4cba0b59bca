"""Points that were rounded to float32 far from the origin are refused; grids in float64 are not."""

from types import SimpleNamespace

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.lab.synthetic import make_problem
from tear3d.problem.digits import _last_digits, _spacing, check_lost_digits
from tear3d.problem.pairs import Pairs

UTM = np.array([500_000.0, 5_400_000.0, 300.0])
PROBLEM = make_problem(300, 0.5, seed=3)
FAR = PROBLEM.source * 20.0 + UTM


def lost(points, stored_as="float64", length=0.05):
    try:
        check_lost_digits(np.asarray(points, dtype=float), stored_as, "source", length, "noise bound")
    except InputError:
        return True
    return False


@pytest.mark.parametrize("size", [1e-30, 0.3, 0.5, 1.0, 1.9, 5.4e6, 2.0**23])
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_spacing_is_that_of_the_type(size, kind):
    if kind == "float16" and not 1e-3 < size < 6e4:
        return
    assert _spacing(size, kind) == np.spacing(np.dtype(kind).type(size))


def test_last_digits_are_those_of_the_bits():
    values = np.float32(np.random.default_rng(0).normal(size=(200, 3)) * 1e3)
    odd, whole = _last_digits(values.astype(float), 24)
    np.testing.assert_array_equal(odd, values.view(np.uint32) & 1)
    assert whole
    assert not _last_digits(np.random.default_rng(0).normal(size=(5, 3)), 24)[1]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda p: p.astype(np.float32),
        lambda p: p.astype(">f4"),
        lambda p: p.astype(np.float32).astype(float),
        lambda p: p.astype(np.float32).tolist(),
        lambda p: SimpleNamespace(points=p.astype(np.float32)),
    ],
)
def test_register_names_the_side_the_digit_and_the_way_out(side, spoil):
    points = {"source": FAR, "target": FAR}
    points[side] = spoil(points[side])
    with pytest.raises(InputError, match=rf"{side} reach 5\.4e\+06 .* float32, which resolves 0\.5 .* bound 0\.05\."):
        tear3d.register(**points, noise_bound=0.05)


def test_the_same_points_in_float64_or_nearer_or_coarser_are_taken():
    exact = FAR.astype(np.float32).astype(float)
    assert len(Pairs.of(FAR, FAR, 0.05)) == 300
    assert len(Pairs.of((FAR - UTM).astype(np.float32), FAR, 0.05)) == 300
    assert len(Pairs.of(exact.astype(np.float32), exact, 5.0)) == 300
    assert len(Pairs.of(exact - UTM, exact - UTM, 5.0)) == 300


def test_of_bounds_per_pair_the_median_counts():
    bounds = np.full(300, 5.0)
    bounds[:20], bounds[20:40] = 0.0, 1e-3
    assert len(Pairs.of(FAR.astype(np.float32), FAR, bounds)) == 300
    bounds[:250] = 0.05
    with pytest.raises(InputError, match=r"noise bound 0\.05"):
        Pairs.of(FAR.astype(np.float32), FAR, bounds)


@pytest.mark.parametrize("offset", [UTM, UTM + np.array([0.0, 3.1e6, 0.0]), 10.0 * UTM])
@pytest.mark.parametrize("step", [1.0, 0.5, 0.25, 1e-3, 0.01])
def test_grids_in_float64_are_taken(offset, step):
    """Whole, half and quarter metres are float32 numbers, too; the easting shows that nothing was cut off."""
    points = np.round(np.random.default_rng(1).uniform(0.0, 300.0, (500, 3)) / step) * step + offset
    assert not lost(points)


def test_whole_numbers_have_lost_nothing():
    points = np.random.default_rng(2).integers(2**23, 2**24, (500, 3))
    assert not lost(points, "int64")
    assert not lost(points // 32, "float32")
    assert lost(points, "float32")


def test_half_precision():
    points = np.random.default_rng(3).normal(size=(300, 3))
    assert lost(points.astype(np.float16), "float16", 1e-3)
    assert not lost(points.astype(np.float16), "float16", 0.05)


def test_a_few_stray_points_do_not_count():
    points = np.random.default_rng(4).normal(size=(300, 3)).astype(np.float32)
    points[:20] += 1e7
    assert not lost(points, "float32")
    points[:40] += 1e7
    assert lost(points, "float32")


def test_flat_scans_and_tiny_ones():
    points = FAR.astype(np.float32)
    points[:, 2] = 300.0
    assert lost(points)
    assert lost(points[:5], "float32")
