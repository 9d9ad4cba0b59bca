import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tear3d.errors import InputError
from tear3d.features.matching import match, nearest


def naive_order(source, target):
    squared = cdist(source.astype(float), target.astype(float), "sqeuclidean")
    return np.argsort(squared, axis=1, kind="stable"), np.sort(squared, axis=1)


def random_descriptors(seed, count, width, levels=None):
    values = np.random.default_rng(seed).normal(size=(count, width)) * 30.0
    return (np.round(values / levels) if levels else values).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    width=st.integers(1, 9),
    k=st.integers(1, 6),
    seed=st.integers(0, 99),
    ties=st.booleans(),
)
def test_nearest_is_exact_with_ties(n, m, width, k, seed, ties):
    levels = 40.0 if ties else None
    source, target = (
        random_descriptors(seed, n, width, levels),
        random_descriptors(seed + 1, m, width, levels),
    )
    k = min(k, m)
    indices, squared = nearest(source, target, k)
    order, sorted_squared = naive_order(source, target)
    assert np.array_equal(indices, order[:, :k])
    assert np.allclose(squared, sorted_squared[:, :k])


def test_nearest_across_tiles_and_far_from_zero():
    source, target = random_descriptors(0, 1100, 33) + 1e4, random_descriptors(1, 2500, 33) + 1e4
    assert np.array_equal(nearest(source, target, 3)[0], naive_order(source, target)[0][:, :3])


def test_ties_across_tiles():
    source, target = random_descriptors(2, 600, 3, 6.0), random_descriptors(3, 2600, 3, 6.0)
    assert np.array_equal(nearest(source, target, 4)[0], naive_order(source, target)[0][:, :4])


def test_threads_do_not_change_a_bit():
    source, target = random_descriptors(0, 1500, 33), random_descriptors(1, 1500, 33)
    for one, three in zip(nearest(source, target, 2, threads=1), nearest(source, target, 2, threads=3), strict=True):
        assert np.array_equal(one, three)


def test_progress_goes_up_to_one():
    source, target = random_descriptors(0, 1500, 4), random_descriptors(1, 1500, 4)
    for mutual in (False, True):
        seen = []
        match(source, target, mutual=mutual, tick=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert 0.0 <= seen[0] < 0.5


def test_an_error_in_a_thread_comes_out():
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        match(random_descriptors(0, 4000, 4), random_descriptors(1, 100, 4), tick=stop, threads=2)


def test_options():
    source, target = random_descriptors(0, 80, 5), random_descriptors(1, 90, 5)
    order, squared = naive_order(source, target)
    back, _ = naive_order(target, source)
    top = {(i, j) for i in range(80) for j in order[i, :3]}
    assert {tuple(pair) for pair in match(source, target, top_k=3)} == top
    mutual = {(i, j) for i, j in top if i in back[j, :3]}
    assert {tuple(pair) for pair in match(source, target, top_k=3, mutual=True)} == mutual
    distinct = [i for i in range(80) if np.sqrt(squared[i, 0]) < 0.8 * np.sqrt(squared[i, 1])]
    assert np.array_equal(match(source, target, ratio=0.8), np.column_stack((distinct, order[distinct, 0])))


def test_more_neighbours_than_targets():
    assert len(match(random_descriptors(0, 7, 4), random_descriptors(1, 3, 4), top_k=9, mutual=True)) == 21
    assert match(np.empty((0, 4)), random_descriptors(1, 3, 4)).shape == (0, 2)


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        (np.zeros(3), np.zeros((2, 3)), {}, "desc_source"),
        (np.zeros((2, 4)), np.zeros((2, 3)), {}, "columns"),
        (np.zeros((2, 3)), np.full((2, 3), np.nan), {}, "desc_target"),
        (np.zeros((2, 3)), np.zeros((2, 3)), {"top_k": 0}, "top_k"),
        (np.zeros((2, 3)), np.zeros((2, 3)), {"ratio": 1.5}, "ratio"),
    ],
)
def test_bad_input(source, target, options, message):
    with pytest.raises(InputError, match=message):
        match(source, target, **options)
