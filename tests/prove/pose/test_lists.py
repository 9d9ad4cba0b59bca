"""Lists of pairs: kept as long as a node refers to them, and none when there is no room."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tear3d.prove.pose import lists as module
from tear3d.prove.pose.lists import Lists


def some(*numbers):
    return np.array(numbers, np.int32)


def test_a_list_lives_until_the_last_node_is_done():
    lists = Lists()
    one, two = lists.keep(some(3, 1, 4), 2), lists.keep(some(7), 1)
    assert 0 not in (one, two)
    for _ in range(2):
        assert lists.take(one, 10).tolist() == [3, 1, 4]
        lists.done(one)
    with pytest.raises(KeyError):
        lists.take(one, 10)
    assert lists.take(two, 10).tolist() == [7]


def test_number_zero_is_all_pairs():
    lists = Lists()
    assert lists.take(0, 4).tolist() == [0, 1, 2, 3]
    lists.done(0)
    assert lists.take(0, 2).dtype == np.int32


def test_without_room_nodes_are_searched_with_all_pairs(monkeypatch):
    monkeypatch.setattr(module, "ROOM", 12)
    lists = Lists()
    first = lists.keep(some(1, 2), 1)
    assert first > 0
    assert lists.keep(some(1, 2), 1) == 0
    assert lists.keep(some(5), 1) > 0
    lists.done(first)
    again = lists.keep(some(8, 9), 1)
    assert lists.take(again, 20).tolist() == [8, 9]


def test_threads_do_not_get_each_others_lists():
    lists, wrong = Lists(), []

    def work(name):
        for k in range(500):
            number = lists.keep(some(name, k), 1)
            if lists.take(number, 9).tolist() != [name, k]:
                wrong.append((name, k))
            lists.done(number)

    crew = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert not wrong
    assert not lists._lists
    assert lists._bytes == 0
