"""Distances in colours are those between the clouds, and the page shows them when asked."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.report import write_report
from tear3d.report.shading import Shading
from tests.conftest import NO_CHROMIUM
from tests.report.chromium import Chromium, find_chromium
from tests.report.test_browser import complaints, pixels, press


def test_shares_are_distances_to_the_nearest_point():
    rng = np.random.default_rng(0)
    moved, target = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
    exact = np.min(np.linalg.norm(moved[:, None] - target, axis=2), axis=1)
    shading = Shading.of(moved, target, 0.1)
    assert shading.end == pytest.approx(0.3)
    np.testing.assert_allclose(shading.shares, np.minimum(exact / 0.3, 1.0))
    assert shading.beyond == np.mean(exact > 0.3) > 0.0
    assert "0.3 from the target" in shading.legend()
    assert Shading.of(moved, target, None).end == pytest.approx(np.quantile(exact, 0.95))
    same = Shading.of(target, target, None)
    assert same.shares.max() == same.beyond == 0.0
    assert "farther" not in same.legend()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    problem = tear3d.synthetic.make_problem(300, 0.5, seed=1)
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(3000, 3))
    there = cloud @ problem.rotation.T + problem.translation
    there[::2] += 0.1 * rng.normal(size=there[::2].shape)
    clouds = {"source_cloud": cloud, "target_cloud": there}
    folder = tmp_path_factory.mktemp("shading")
    plain = write_report(folder / "pairs.html", result, problem.source, problem.target)
    return plain, write_report(folder / "clouds.html", result, problem.source, problem.target, **clouds)


def test_only_clouds_have_them(page):
    plain, clouds = (path.read_text(encoding="utf-8") for path in page)
    assert "<button data-shade" not in plain
    assert "<button data-shade" in clouds
    assert 'id="shade-legend"' in clouds


@pytest.mark.skipif(find_chromium() is None, reason=NO_CHROMIUM)
def test_the_button_colours_the_source_and_shows_the_scale(page):
    browser = Chromium(find_chromium())
    try:
        browser.open(page[1])
        before = pixels(browser, "#view-after")["picture"]
        left = pixels(browser, "#view-before")["picture"]
        legend = "getComputedStyle(document.querySelector('#shade-legend')).display"
        assert browser.run(legend) == "none"
        press(browser, "[data-shade]")
        assert pixels(browser, "#view-after")["picture"] != before
        assert pixels(browser, "#view-before")["picture"] == left
        assert browser.run(legend) == "block"
        press(browser, "[data-shade]")
        assert pixels(browser, "#view-after")["picture"] == before
        assert complaints(browser) == []
    finally:
        browser.close()
