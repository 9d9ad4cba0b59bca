"""Cards for notebooks: true words, the pose, a picture, and nothing that must be loaded."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import tear3d
from tear3d.report.card import card
from tear3d.report.words import seconds


def parsed(text):
    return ElementTree.fromstring(text.replace("&nbsp;", " "))


@pytest.fixture(scope="module")
def problem():
    return tear3d.synthetic.make_problem(600, 0.8, seed=1)


@pytest.mark.parametrize("certify", [True, False])
def test_a_card_says_what_the_result_says(problem, certify):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=certify)
    text = result._repr_html_()
    page = parsed(text)
    words = " ".join(page.itertext())
    assert ("Registered, and proven optimal" in words) == certify
    assert f"{result.transformation[0, 0]: .6f}" in words
    assert ("any pose, at most: 101\u202f%" in words) == certify
    assert "this pose: 100\u202f%" in words
    assert f"time {seconds(sum(result.seconds.values()))}, of the whole call" in words
    assert not re.search(r"(?:src|href)=|url\(|<script", text)


def test_a_card_of_clouds_shows_them(problem):
    lower, upper = tear3d.shapes.teapot(6000, seed=1), tear3d.shapes.teapot(6000, seed=2) @ problem.rotation.T
    found = tear3d.register_clouds(lower, upper, certify=False)
    page = parsed(found._repr_html_())
    words = " ".join(page.itertext())
    assert found.success
    assert "confirmed by the clouds" in words
    assert found.reasons[0] in words.replace("\u202f", " ")
    assert "source, under the pose" in words
    assert f"time {seconds(sum(found.seconds.values()))}, of the whole call" in words
    dots = [path.get("d").count("M") for path in page.iter("path")]
    assert len(dots) == 2
    assert min(dots) > 300
    numbers = np.array(re.findall(r"M(\d+) (\d+)h0", page.find(".//path").get("d")), float)
    assert numbers.min() >= 0
    assert numbers.max() <= 220


def test_what_is_not_ours_is_escaped(problem):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    object.__setattr__(result, "message", "<b>")
    object.__setattr__(result, "status", "no_consensus")
    assert "<b>" not in card(result)


def test_without_a_pose_none_is_shown():
    with np.errstate(all="ignore"):
        same = tear3d.register(np.ones((9, 3)), np.ones((9, 3)) * 2.0, noise_bound=0.1, estimate_scale=True)
    assert "no pose" in same._repr_html_()


def test_the_bars_are_what_poses_save(problem):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    page = parsed(card(result))
    widths = [float(bar.get("width")) for bar in page.iter("rect")]
    certificate, best = result.certificate, result.alternatives[0]
    longest = 1.0 + certificate.gap
    wanted = [1.0, longest, certificate.runner_up, best.saving / result.saving]
    np.testing.assert_allclose(widths, 200.0 * np.array(wanted) / longest, atol=0.06)
    assert page.find(".//svg").get("height") == str(16 + 48 * 4)


def test_with_nothing_to_compare_there_is_no_picture(problem):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    object.__setattr__(result, "alternatives", ())
    assert "<svg" not in card(result)
