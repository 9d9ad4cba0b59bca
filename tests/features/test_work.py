"""Work in chunks and aside: complete, watched, and stopped promptly."""

import threading
import time

import numpy as np
import pytest

from tear3d.features.work import aside, each, in_chunks


class Enough(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 3])
def test_every_row_is_done_once(threads):
    done = np.zeros(1003)

    def work(start, stop):
        done[start:stop] += 1

    in_chunks(work, len(done), threads, chunk=10)
    assert np.all(done == 1)


def test_each_item_gets_its_own_answer_in_order():
    assert each(lambda item: 2 * item, [3, 1, 2]) == [6, 2, 4]
    assert each(str, []) == []
    with pytest.raises(ZeroDivisionError):
        each(lambda item: 1 // item, [1, 0])


@pytest.mark.parametrize("threads", [1, 3])
def test_what_tick_raises_comes_out_after_the_chunks_under_way(threads):
    begun = []

    def work(start, stop):
        begun.append(start)
        time.sleep(0.02)

    def tick(done):
        if done > 0.0:
            raise Enough

    with pytest.raises(Enough):
        in_chunks(work, 1000, threads, chunk=1, tick=tick)
    count = len(begun)
    assert count < 30
    time.sleep(0.1)
    assert len(begun) == count, "nothing goes on behind the caller's back"


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_chunk_raises_comes_out(threads):
    def work(start, stop):
        if start == 50:
            raise Enough

    with pytest.raises(Enough):
        in_chunks(work, 100, threads, chunk=10)


def test_ticks_come_while_a_chunk_takes_its_time():
    seen = []
    in_chunks(lambda start, stop: time.sleep(0.4), 2, 2, chunk=1, tick=seen.append)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def test_aside_returns_what_the_call_returns_and_raises_what_it_raises():
    def fail():
        raise Enough

    for tick in (None, lambda done: None):
        assert aside(lambda: 5, tick) == 5
        with pytest.raises(Enough):
            aside(fail, tick)


def test_aside_is_left_at_once_when_tick_raises():
    ended = threading.Event()

    def long():
        time.sleep(0.8)
        ended.set()

    def tick(done):
        raise Enough

    with pytest.raises(Enough):
        aside(long, tick)
    assert not ended.is_set()
    assert ended.wait(5.0), "the call goes on to its end"
