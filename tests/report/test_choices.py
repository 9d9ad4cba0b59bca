"""The choices of the 3D view in a real browser: colours, poses, and another pose beside the one returned."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.report import About, write_report
from tear3d.result import Alternative
from tests.conftest import NO_CHROMIUM
from tests.report.case import make_case, make_found, torus
from tests.report.chromium import PIXELS, find_chromium
from tests.report.test_browser import complaints, fits, pixels, press

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=NO_CHROMIUM)

RED, GREEN, BLUE = (200, 30, 30), (30, 160, 40), (40, 60, 220)

# How many pixels of a canvas are within a few steps of a colour.
NEAR = """([selector, wanted]) => {
  const {data} = (PIXELS)(selector);
  const spread = (r, g, b) => [r - g, g - b, b - r];
  const size = Math.hypot(...spread(...wanted));
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    const own = spread(data[k], data[k + 1], data[k + 2]);
    const length = Math.hypot(...own);
    const along = own.reduce((sum, v, i) => sum + v * spread(...wanted)[i], 0);
    if (length > 0.4 * size && along > 0.97 * length * size) count += 1;
  }
  return count;
}""".replace("PIXELS", PIXELS)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Half of the source is far from the target; the files have colours; the other poses are wrong."""
    points = torus(4000)
    problem, _ = make_case(400, 0.5)
    pose = problem.transformation
    far = points + np.where(np.arange(4000)[:, None] % 2, 0.0, [0.0, 0.0, 0.6])
    red_and_green = np.where(np.arange(4000)[:, None] % 2, RED, GREEN).astype(np.uint8)
    source = tear3d.Cloud(far, {"colors": red_and_green, "intensity": np.linspace(0.0, 9.0, 4000)})
    target = tear3d.Cloud(points @ pose[:3, :3].T + pose[:3, 3], {"colors": np.tile(np.uint8(BLUE), (4000, 1))})
    away = pose.copy()
    away[:3, 3] += 1.5
    others = (Alternative(away, 3.0, 41, -1.0), Alternative(pose, 9.0, 43, -2.0))
    problem, result = make_case(400, 0.5, alternatives=others, saving=10.0)
    refined = pose.copy()
    refined[:3, 3] += [0.0, 0.0, 0.02]
    found = make_found(problem, result, transformation=refined)
    folder = tmp_path_factory.mktemp("choices")
    about = About(found, "tear3d align a.ply b.ply --seed 0")
    more = {"source_cloud": source, "target_cloud": target, "refined": refined, "about": about}
    return write_report(folder / "x.html", result, problem.source, problem.target, **more)


def coloured(browser, selector, colour):
    pixels(browser, selector)  # which waits for the picture
    return browser.run(f"({NEAR})({[selector, list(colour)]!r})")


def seen(browser, selector):
    return browser.run(
        f"[...document.querySelectorAll({selector!r})].filter((e) => e.offsetParent).map((e) => e.textContent.trim())"
    )


def style(browser, name):
    hexes = browser.run(f"getComputedStyle(document.documentElement).getPropertyValue({name!r}).trim()")
    return tuple(int(hexes[k : k + 2], 16) for k in (1, 3, 5))


@pytest.mark.parametrize("width", [1280, 390])
def test_the_colours_of_the_files_are_in_both_views(browser, page, width):
    browser.open(page, width=width)
    plain = pixels(browser, "#view-after")["picture"]
    assert coloured(browser, "#view-after", RED) == 0
    press(browser, "[data-paint=tint-0]")
    for view in ("#view-before", "#view-after"):
        for colour in (RED, GREEN, BLUE):
            assert coloured(browser, view, colour) > 100, (view, colour)
        assert coloured(browser, view, style(browser, "--source")) == 0
    (legend,) = seen(browser, "[data-legend]")
    assert legend.startswith("The colours of the points, as the files have them.")
    assert fits(browser, width)
    press(browser, "[data-paint=plain]")
    assert pixels(browser, "#view-after")["picture"] == plain
    assert complaints(browser) == []


def test_intensity_is_a_choice_where_one_file_has_it(browser, page):
    browser.open(page)
    plain = coloured(browser, "#view-after", style(browser, "--source"))
    press(browser, "[data-paint=tint-1]")
    (legend,) = seen(browser, "[data-legend]")
    assert legend.startswith("intensity")
    assert "Files without it keep their own colour" in legend
    assert coloured(browser, "#view-after", style(browser, "--target")) > 100
    assert coloured(browser, "#view-after", style(browser, "--source")) < 0.02 * plain, "rims of other colours at most"


@pytest.mark.parametrize("dark", [False, True])
def test_overlap_shows_what_has_a_counterpart_after_registration(browser, page, dark):
    browser.open(page, dark=dark)
    before = pixels(browser, "#view-before")
    press(browser, "[data-layer=inliers]")
    without = pixels(browser, "#view-before")["picture"]
    assert without != before["picture"]
    press(browser, "[data-paint=overlap]")
    near, alone = style(browser, "--inliers"), style(browser, "--outliers")
    assert coloured(browser, "#view-after", near) > 100
    assert coloured(browser, "#view-after", alone) > 100
    assert coloured(browser, "#view-after", style(browser, "--source")) == 0
    assert pixels(browser, "#view-before")["picture"] == without, "nothing overlaps before"
    (legend,) = seen(browser, "[data-legend=overlap]")
    assert "have a point of the target within 0.05, the voxel size" in legend
    assert "have none" in legend
    assert complaints(browser) == []


def test_shadings_follow_the_pose_and_the_theme(browser, page):
    browser.open(page)
    press(browser, "[data-paint=distances]")
    assert browser.run("document.querySelector('[data-legend]:not(.hidden)').dataset.of") == "refined"
    picture = pixels(browser, "#view-after")["picture"]
    assert coloured(browser, "#view-after", (194, 38, 31)) > 100, "far is red"
    press(browser, "[data-pose=found]")
    assert pixels(browser, "#view-after")["picture"] != picture
    assert browser.run("document.querySelector('[data-legend]:not(.hidden)').dataset.of") == "found"
    (found,) = seen(browser, "[data-legend]")
    assert f"{3.0 * make_case(400, 0.5)[0].noise_bound:.3g} from the target under the pose" in found
    press(browser, "[data-paint=overlap]")
    light = coloured(browser, "#view-after", style(browser, "--inliers"))
    browser.set_dark(True)
    browser.wait_for("getComputedStyle(document.documentElement).getPropertyValue('--inliers').trim() === '#45d69b'")
    assert coloured(browser, "#view-after", (69, 214, 155)) == pytest.approx(light, rel=0.5)
    browser.set_dark(False)
    assert complaints(browser) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_another_pose_stands_beside_the_one_returned(browser, page, width):
    browser.open(page, width=width)
    returned = pixels(browser, "#view-returned")
    first = pixels(browser, "#view-other")
    assert returned["drawn"] > 500
    assert first["drawn"] > 500
    assert coloured(browser, "#view-other", style(browser, "--inliers")) == 0, "nothing overlaps under the wrong pose"
    assert coloured(browser, "#view-returned", style(browser, "--inliers")) > 50
    (caption,) = seen(browser, "[data-about-other]")
    assert caption == "Pose 1. 41 matches agree, 0\u202f% of the source points shown have a counterpart."
    press(browser, "[data-other='2']")
    second = pixels(browser, "#view-other")
    assert second["picture"] != first["picture"]
    (caption,) = seen(browser, "[data-about-other]")
    assert caption.startswith("Pose 2. 43 matches agree, 50\u202f% ")
    assert browser.run("document.querySelector(\"[data-other='1']\").ariaPressed") == "false"
    row = browser.run("[...document.querySelectorAll('#others tbody tr')].map((r) => r.lastElementChild.textContent)")
    assert row == ["50\u202f%", "0\u202f%", "50\u202f%"]
    assert fits(browser, width)
    assert complaints(browser) == []
