"""The times of a page add up; what it took to compile is a step of the whole call and of no part of it."""

import re
from contextlib import contextmanager

import numpy as np
import pytest

import tear3d
from tear3d.problem import compiling
from tear3d.problem.compiling import COMPILING
from tear3d.report import About, write_report
from tear3d.report.words import seconds
from tests.report.case import make_case, make_found

STEPS = {"candidates": 0.2, COMPILING: 3.0, "first row": 0.5}


def tables(page):
    """The steps of each table of times, and its total."""
    for table in re.findall(r'<table class="timing">(.*?)</table>', page):
        yield dict(re.findall(r'<th>([^<]*)</th><td[^>]*>(?:<i[^>]*></i>)?</td><td class="num">([^<]*)</td>', table))


@pytest.mark.parametrize("clouds", [True, False])
def test_compiling_is_said_once(tmp_path, clouds):
    problem, result = make_case(60, 0.5, seconds=dict(STEPS))
    own = {"match": 0.1, "register": 0.9, COMPILING: 3.0}
    found = make_found(problem, result, seconds=own) if clouds else None
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target, about=About(found)).read_text()
    whole, *within = tables(page)
    assert whole[COMPILING] == seconds(3.0)
    assert whole["total"] == seconds(4.0 if clouds else 3.7)
    assert [set(each) for each in within] == ([{"candidates", "first row", "total"}] if clouds else [])
    assert all(each["total"] == seconds(0.7) for each in within)
    assert f"{seconds(0.7)} of it search and proof" in page


def test_the_steps_of_a_call_that_compiles(monkeypatch):
    @contextmanager
    def slow_to_compile(limits, groups):
        compiling._book(limits, 3.0)
        yield

    monkeypatch.setattr("tear3d.clouds.register.compiled_apart", slow_to_compile)
    source = tear3d.shapes.teapot(2000, seed=1)
    target = tear3d.shapes.teapot(2000, seed=2)
    found = tear3d.register_clouds(source, target, certify="rows")
    assert found.seconds[COMPILING] == 3.0
    assert f"time {seconds(sum(found.seconds.values()))}, of the whole call" in found._repr_html_()
    rest = sum(took for name, took in found.result.seconds.items() if name != COMPILING)
    assert 0.0 < rest <= found.seconds["register"] + found.seconds["judge"]
    assert np.isfinite(list(found.seconds.values())).all()
