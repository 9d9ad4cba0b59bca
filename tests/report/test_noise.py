"""The part of the report about a noise bound that was estimated."""

import math
from dataclasses import replace

import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.report.html import write_report
from tear3d.report.noise import section
from tear3d.synthetic import make_problem


@pytest.fixture(scope="module")
def solved():
    problem = make_problem(500, 0.8, seed=1)
    return problem, tear3d.register(problem.source, problem.target, certify=False)


def test_the_page_has_the_bound_and_its_curves(solved, tmp_path):
    problem, result = solved
    page = write_report(tmp_path / "r.html", result, problem.source, problem.target).read_text(encoding="utf-8")
    part = page[page.index('<section id="noise">') : page.index('<section id="search">')]
    assert part.count("<svg") == 3
    assert part.count('class="dot"') == 3 * len(result.noise.curve)
    assert f"ξ = {result.noise.noise_bound:.3g}" in part
    assert result.noise.why in part
    # The message is about the proof, the bound has a section of its own.
    assert page.count(result.noise.why) == page[page.index("settings-json") :].count(result.noise.why) + 1


def test_a_bound_that_was_given_has_no_section(solved, tmp_path):
    problem, result = solved
    assert section(replace(result, noise=None)) == ""
    given = tear3d.register(problem.source, problem.target, noise_bound=0.05, certify=False)
    page = write_report(tmp_path / "r.html", given, problem.source, problem.target).read_text(encoding="utf-8")
    assert 'id="noise"' not in page


def test_without_curves_or_a_spread_the_section_says_so(solved):
    noise = replace(solved[1].noise, curve=(), sigma=math.nan, low=math.nan, high=math.nan, trusted=False)
    part = section(replace(solved[1], noise=noise))
    assert "<svg" not in part
    assert "no time for curves" in part
    assert "not to be trusted" in part
    assert "nan" not in part


def test_the_curves_are_drawn_in_notebooks(solved):
    pytest.importorskip("plotly")
    figure = solved[1].plot(kind="noise")
    assert [len(line.x) for line in figure.data] == [len(solved[1].noise.curve)] * 3
    with pytest.raises(InputError, match="no curve"):
        replace(solved[1], noise=None).plot(kind="noise")


def test_with_a_scale_its_curve_is_shown_and_lengths_are_the_targets(tmp_path):
    problem = make_problem(500, 0.8, scale=1.7, seed=1)
    result = tear3d.register(problem.source, problem.target, certify=False, estimate_scale=True)
    page = write_report(tmp_path / "r.html", result, problem.source, problem.target).read_text(encoding="utf-8")
    part = page[page.index('<section id="noise">') : page.index('<section id="search">')]
    assert part.count("<svg") == 4
    assert part.count('class="dot"') == 4 * len(result.noise.curve)
    assert "in units of the target" in part
    assert "in units of the data" not in part
    assert result.noise.why in part
    pytest.importorskip("plotly")
    assert [line.name for line in result.plot(kind="noise").data][-1] == "scale"
