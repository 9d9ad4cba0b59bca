"""Which pairs are tried."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.mapping.neighbours import BATCH, LOOP, ROUND, Foreseen, by_distance_in_order, by_order
from tear3d.mapping.solve import solve
from tests.mapping.graphs import make

FLAT = np.random.default_rng(0).uniform(-6.0, 6.0, (1500, 3)) * [1.0, 1.0, 0.0]


def foreseen(pairs, count=20, noise_bound=0.01, deviations=None):
    deviations = np.full(6, 1e-4) if deviations is None else deviations
    made = make(np.random.default_rng(0), pairs, count=count, noise_bound=noise_bound, deviations=deviations)
    solution = solve(made.graph)
    return Foreseen(made.graph, solution, lambda scan: FLAT + made.graph.centres[scan], 0.3), made


def chain(count=20, reach=2):
    return by_order(count, reach)


def test_by_order():
    assert by_order(4, 2) == [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
    assert by_order(3, 5) == [(0, 1), (1, 2), (0, 2)]


@pytest.mark.parametrize("count", [2, 5, 40])
def test_without_order_every_pair_comes_once(count):
    rounds = list(by_distance_in_order(count))
    every = [pair for pairs in rounds for pair in pairs]
    assert sorted(every) == [(i, j) for i in range(count) for j in range(i + 1, count)]
    assert all(len(pairs) >= ROUND for pairs in rounds[:-1])


def test_the_ends_of_a_loop_are_foreseen():
    ahead, _ = foreseen(chain())
    assert ahead.overlap(0, 19) > 0.4
    assert ahead.overlap(0, 10) < 0.1
    first = ahead.loops(set(chain()))
    assert first[0] == (0, 19)
    assert len(first) <= BATCH
    assert (0, 10) not in first


def test_of_pairs_side_by_side_one_is_enough_for_now():
    ahead, _ = foreseen(chain())
    first = ahead.loops(set(chain()))
    assert not {(0, 18), (1, 19), (1, 18)} & set(first)
    # When it was tried in vain, those beside it come next.
    assert set(ahead.loops({*chain(), *first})) & {(0, 18), (1, 19), (1, 18)}


def test_a_closed_loop_is_not_closed_again():
    ahead, _ = foreseen([*chain(), (0, 19), (0, 18), (1, 19)])
    assert all(ahead._steps[i, j] >= LOOP for i, j in ahead.loops(set(chain())))
    assert (1, 18) not in ahead.loops(set(chain()))


def test_what_hangs_on_one_edge_gets_another_if_it_can():
    pairs = [pair for pair in chain(20) if pair not in ((7, 9), (8, 10), (8, 9), (7, 8))] + [(7, 8)]
    ahead, _ = foreseen([pair for pair in pairs if 8 not in pair or pair == (7, 8)] + [(6, 9), (7, 9)])
    assert any(8 in pair for pair in ahead.loops(set()))


def test_uncertain_poses_are_given_more_room():
    sure, _ = foreseen(chain())
    unsure, _ = foreseen(chain(), deviations=np.array([0.02] * 3 + [0.1] * 3), noise_bound=0.3)
    assert unsure._tolerance(0, 12) > 2.0 > sure._tolerance(0, 12)
    assert unsure._tolerance(0, 19) > unsure._tolerance(0, 3)
    assert unsure.overlap(0, 16) > sure.overlap(0, 16)
