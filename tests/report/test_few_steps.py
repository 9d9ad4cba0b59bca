"""A proof that came down in few steps is told in words: its curve would be a rectangle."""

from dataclasses import replace

import numpy as np

from tear3d.report import charts, sections
from tear3d.report.axes import RIGHT, WIDTH
from tests.report.case import make_case


def short(bounds, times):
    stage = make_case(100, 0.5)[1].certificate.stages[1]
    rows = [(time, stage.saving, bound * stage.saving) for time, bound in zip(times, bounds, strict=True)]
    return replace(stage, history=np.array(rows))


def test_few_bounds_are_listed_and_rounded_up():
    stage = short([2.544, 1.913, 1.913, 1.001], [0.5, 0.6, 0.65, 0.75])
    assert charts.progress_chart(stage) is None
    assert charts.progress_words(stage) == (
        "Before that the bound was 255\u202f%, then 192\u202f% of what was found; it took 250\u202fms."
    )
    section = sections.stage_section(stage, None, 0)
    assert "<svg" not in section
    assert "then 192\u202f% of what was found" in section


def test_many_bounds_are_a_curve_and_no_words():
    stage = short(np.linspace(3.0, 1.001, 12), np.linspace(0.0, 1.0, 12))
    section = sections.stage_section(stage, None, 0)
    assert "<svg" in section
    assert "Before that" not in section


def test_one_bound_says_nothing():
    assert charts.progress_words(short([1.001, 1.001], [0.1, 0.2])) == ""
    assert charts.progress_words(replace(short([1.001, 1.001], [0.1, 0.2]), history=np.empty((0, 3)))) == ""


def test_a_clock_that_was_set_back_stays_within_the_axes():
    """Compiling is taken off the time once it is over."""
    times = np.append(np.linspace(0.0, 2.0, 11), 1.5)
    chart = charts.progress_chart(short(np.linspace(3.0, 1.001, 12), times))
    curve = chart.split('class="bound" d="M')[1].split('"')[0]
    across = [float(point.split(",")[0]) for point in curve.split("L")]
    assert np.all(np.diff(across) >= 0.0)
    assert across[-1] <= WIDTH - RIGHT + 0.1
