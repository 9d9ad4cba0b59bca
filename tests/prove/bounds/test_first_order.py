"""The first-order bound: the inequality behind it, and its two kernels against their direct sum."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.prove.bounds.cases import CLOUDS, CellCase, bounds_at, pack, random_case


def test_the_first_order_inequality():
    z, e, xi = np.meshgrid(np.linspace(-4, 4, 321), np.linspace(-6, 6, 481), [0.0, 0.5, 1.0, 1.7], indexing="ij")
    save = np.maximum(0.0, xi - np.abs(z))
    slope = np.where(np.abs(z) < xi, -np.sign(z), 0.0)
    bound = save + slope * e + np.maximum(0.0, np.abs(e) - np.abs(np.abs(z) - xi))
    assert np.all(np.maximum(0.0, xi - np.abs(z + e)) <= bound + 1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(CLOUDS), st.integers(1, 12), st.booleans())
def test_first_order_equals_its_direct_sum(seed, kind, level, general):
    rng = np.random.default_rng(seed)
    case, x, y, xi, w, low, beta, nodes = random_case(rng, kind, level, seed % 3 == 0, general)
    row = pack(x, y, xi, w, True)
    values = bounds_at(row, case, low + 0.5 * beta, beta, nodes, 0)
    everyone = np.broadcast_to(xi, len(y)), np.broadcast_to(w, len(y))
    exact = [
        naive.first_order_bound(x, y, *everyone, case.cell, low + (k + 0.5) * beta, 0.5 * beta) for k in range(nodes)
    ]
    scale = float(np.sum(everyone[0] * everyone[1]))
    # The sums of equal thresholds are float32; their margin, part of the bound, grows with n².
    margin = 2e-6 * float(np.sum(everyone[1] * np.linalg.norm(x, axis=1)))  # the reach is rounded up by 1e-6
    margin += 0.0 if general else 1e-6 * len(y) * scale
    assert np.all(values >= np.array(exact) - 1e-12 * scale)
    assert np.all(values <= np.array(exact) + 1e-5 * scale + margin)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(CLOUDS), st.integers(1, 12))
def test_wide_and_narrow_agree(seed, kind, level):
    """The same pairs with and without their (equal) own thresholds and weights take the two ways."""
    rng = np.random.default_rng(seed)
    case, x, y, xi, w, low, beta, _ = random_case(rng, kind, level, False, False)
    nodes = 2 * round(float(xi[0]) / beta) + 20
    wide = bounds_at(pack(x, y, xi, w, True), case, low, beta, nodes, 0)
    narrow = bounds_at(pack(x, y, np.full(len(y), xi[0]), np.ones(len(y)), True), case, low, beta, nodes, 0)
    np.testing.assert_allclose(wide, narrow, rtol=0, atol=1e-6 * len(y) ** 2 * float(xi[0]))
    assert np.all(wide >= narrow - 1e-9 * len(y) * float(xi[0]))


def test_a_crowd_in_one_bin_leaves_nothing_behind():
    """Thousands of equal pairs, then thousands of nodes: what their kinks leave over must not add up below 0."""
    case = CellCase(np.random.default_rng(1), 14, False)
    for n in (1000, 20_000):
        for offset in (0.3, 0.7, 0.9):
            xi, w = np.full(n, 0.04), np.full(n, 0.7)
            row = pack(np.full((n, 3), 1e-9), np.full(n, 0.01 * offset), xi, w, True)
            assert bounds_at(row, case, 0.0, 0.01, 4000, 0).min() >= 0.0
