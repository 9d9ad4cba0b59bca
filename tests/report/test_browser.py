"""The report in a real browser: nothing complains, the canvases draw, the buttons work."""

import numpy as np
import pytest

from tear3d.report import About, write_report
from tear3d.result import Alternative, Ambiguity, FreeMotion
from tests.conftest import NO_CHROMIUM
from tests.report.case import make_case, make_found, make_pose_case
from tests.report.chromium import PIXELS, find_chromium

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=NO_CHROMIUM)

SOFTWARE_RENDERING = "GPU stall due to ReadPixels"

# How many pixels of a canvas are not the colour of the page's panels, and that colour.
COUNT = """(selector) => {
  const {canvas, data} = (PIXELS)(selector);
  const hex = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
  const panel = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  let drawn = 0;
  for (let k = 0; k < data.length; k += 4) drawn += panel.some((v, i) => Math.abs(data[k + i] - v) > 8);
  return {drawn, total: data.length / 4, panel, picture: canvas.toDataURL()};
}""".replace("PIXELS", PIXELS)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    problem, result = make_case(4000, 0.9)
    return write_report(
        tmp_path_factory.mktemp("report") / "report.html",
        result,
        problem.source,
        problem.target,
        refined=np.eye(4),
    )


def pixels(browser, selector):
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return browser.run(f"({COUNT})({selector!r})")


def fits(browser, width):
    """Nothing is wider than the screen: a phone would make the page smaller, and `innerWidth` larger, to show it."""
    return browser.run("document.documentElement.scrollWidth") <= width


def complaints(browser):
    return [text for text in browser.problems if SOFTWARE_RENDERING not in text]


def press(browser, selector):
    browser.run(f"document.querySelector({selector!r}).click()")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_draws_without_complaints_and_fits(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    for selector in ("#view-before", "#view-after", "[data-side=front]", "[data-side=back]"):
        seen = pixels(browser, selector)
        assert 0.02 < seen["drawn"] / seen["total"] < 0.9, selector
        assert (max(seen["panel"]) < 100) == dark
    assert fits(browser, width), "no sideways scrolling"
    assert complaints(browser) == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_axes_of_a_proven_pose_are_drawn(browser, tmp_path, dark):
    problem, result = make_pose_case()
    browser.open(write_report(tmp_path / "x.html", result, problem.source, problem.target), dark=dark)
    for selector in ("[data-side=front]", "[data-side=back]"):
        seen = pixels(browser, selector)
        assert 0.1 < seen["drawn"] / seen["total"] < 0.9, selector
    line = "getComputedStyle(document.querySelector('line.runner')).stroke"
    assert browser.run(line) == ("rgb(199, 155, 238)" if dark else "rgb(122, 63, 168)")
    assert complaints(browser) == []


@pytest.mark.parametrize("layer", ["source", "target", "inliers"])
def test_each_layer_can_be_hidden_and_shown(browser, page, layer):
    browser.open(page)
    before = pixels(browser, "#view-before")
    press(browser, f"[data-layer={layer}]")
    hidden = pixels(browser, "#view-before")
    press(browser, f"[data-layer={layer}]")
    again = pixels(browser, "#view-before")
    assert hidden["drawn"] < 0.98 * before["drawn"]
    assert again["picture"] == before["picture"]


def test_outlier_pairs_appear_on_request(browser, page):
    browser.open(page)
    before = pixels(browser, "#view-after")["drawn"]
    assert browser.run("document.querySelector('[data-layer=outliers]').ariaPressed") == "false"
    press(browser, "[data-layer=outliers]")
    assert pixels(browser, "#view-after")["drawn"] > 1.2 * before


def test_views_turn_together_zoom_and_reset(browser, page):
    browser.open(page)
    picture = "document.querySelector('#view-{}').toDataURL()"
    start = [browser.run(picture.format(name)) for name in ("before", "after")]
    x, y = browser.run("(() => { const b = document.querySelector('#view-after').getBoundingClientRect();"
                       "return [b.x + b.width / 2, b.y + b.height / 2]; })()")  # fmt: skip

    def mouse(kind, dx, **more):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x + dx, y=y, button="left", **more)

    mouse("mousePressed", 0, clickCount=1)
    mouse("mouseMoved", 60, buttons=1)
    mouse("mouseReleased", 60, clickCount=1)
    pixels(browser, "#view-after")
    turned = [browser.run(picture.format(name)) for name in ("before", "after")]
    assert all(a != b for a, b in zip(start, turned, strict=True)), "both views follow one drag"
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
    browser.wait_for(f"{picture.format('after')} !== {turned[1]!r}")
    press(browser, "#reset-view")
    browser.wait_for(f"{picture.format('after')} === {start[1]!r}")
    assert complaints(browser) == []


def test_the_pose_can_be_chosen_and_copied(browser, page):
    browser.open(page)
    refined = browser.run("document.querySelector('#view-after').toDataURL()")
    press(browser, "[data-pose=found]")
    browser.wait_for(f"document.querySelector('#view-after').toDataURL() !== {refined!r}")
    assert browser.run("document.querySelector('[data-pose=refined]').ariaPressed") == "false"
    press(browser, "[data-copy='#pose-text']")
    browser.wait_for("document.querySelector('[data-copy]').textContent === 'Copied'")
    assert complaints(browser) == []


def test_the_theme_can_change_while_the_page_is_open(browser, page):
    browser.open(page, dark=False)
    light = pixels(browser, "[data-side=front]")
    browser.set_dark(True)
    # Redrawn on the new background: about as much of the canvas stands out as before.
    browser.wait_for(f"(({COUNT})('[data-side=front]').drawn / {light['drawn']} - 1) ** 2 < 0.01")
    assert pixels(browser, "[data-side=front]")["panel"] != light["panel"]
    assert complaints(browser) == []


def test_without_webgl_the_page_says_so(browser, page):
    script = "HTMLCanvasElement.prototype.getContext = () => null"
    added = browser.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
    browser.open(page)
    assert browser.run("getComputedStyle(document.querySelector('.gl-missing')).display") == "block"
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added)
    assert complaints(browser) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_of_ambiguous_clouds_fits_with_all_its_tables(browser, tmp_path, width):
    problem, _ = make_case(300, 0.5)
    others = tuple(Alternative(problem.transformation, 3.0 + k, 1234, -52.0) for k in range(8))
    result = make_case(300, 0.5, alternatives=others, saving=10.0, centre=np.zeros(3))[1]
    free = FreeMotion("rotation", (0.123456, 0.654321, 0.7), (12345.678, 2.0, 3.0), 180.0)
    found = make_found(
        problem, result, verdict="doubtful", ambiguity=Ambiguity("word " * 30, (free,)), reasons=("word " * 50,)
    )
    files = ({"path": "/a/folder/" + "long" * 40 + ".ply", "bytes": 12_345_678, "sha256": "ab" * 32},)
    about = About(found, "tear3d align " + "long" * 60, "found = " + "long" * 60, files)
    page = write_report(tmp_path / "x.html", result, problem.source, problem.target, about=about)
    browser.open(page, width=width)
    assert fits(browser, width), "no sideways scrolling"
    shown = "['judged', 'others', 'time', 'reproduce'].every((id) => document.getElementById(id).offsetHeight > 100)"
    assert browser.run(shown)
    wide = "[...document.querySelectorAll('.scroll, .again pre')].some((box) => box.scrollWidth > box.clientWidth)"
    assert not browser.run(wide), "every column is in sight, and every command"
    assert complaints(browser) == []
