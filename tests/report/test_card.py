"""Cards for notebooks: true words, the pose, a picture, and nothing that must be loaded."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

import tear3d
from tear3d.report.card import card
from tear3d.report.dots import png
from tear3d.report.words import seconds


def parsed(text):
    return ElementTree.fromstring(text.replace("&nbsp;", " "))


LENGTH = r"(?:\d*\.)?\d+(?:px)?"
KEPT = {
    "font-family": "sans-serif",
    "font-size": r"\d+px",
    "font-weight": r"\d00",
    "line-height": LENGTH,
    "max-width": LENGTH,
    "width": r"(?:\d*\.)?\d+px",
    "height": r"\d+px",
    "margin": rf"(?:{LENGTH}\s*){{1,4}}",
    "margin-top": LENGTH,
    "margin-right": LENGTH,
    "padding": LENGTH,
    "border": r"\d+px solid #[0-9a-f]+",
    "border-radius": LENGTH,
    "background": "#[0-9a-f]+",
    "color": "#[0-9a-f]+",
    "opacity": r"[01](?:\.\d+)?",
    "display": "block|inline-block|inline",
    "vertical-align": "top",
}
"""Of what JupyterLab's `sanitizer.ts` leaves of styles, that which a card may use."""


def left_by_jupyterlab(page):
    """Whether all of it stays in a notebook that is not trusted."""
    for element in page.iter():
        names = {"style"} | ({"alt", "width", "height", "src"} if element.tag == "img" else set())
        if element.tag not in ("div", "span", "pre", "br", "img") or not set(element.attrib) <= names:
            return False
        for rule in filter(None, element.get("style", "").split(";")):
            name, value = rule.split(":")
            if name not in KEPT or not re.fullmatch(KEPT[name], value):
                return False
    return True


def pixels(source):
    """The size of a PNG, and the places of its pixels in its palette."""
    raw = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(raw):
        (size,) = struct.unpack(">I", raw[at : at + 4])
        chunks[raw[at + 4 : at + 8]] = raw[at + 8 : at + 8 + size]
        assert zlib.crc32(raw[at + 4 : at + 8 + size]) == struct.unpack(">I", raw[at + 8 + size : at + 12 + size])[0]
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = zlib.decompress(chunks[b"IDAT"])
    rows = [lines[k * (width + 1) : (k + 1) * (width + 1)] for k in range(height)]
    assert all(row[0] == 0 for row in rows)
    return (width, height), b"".join(row[1:] for row in rows)


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
    assert left_by_jupyterlab(page)


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
    assert left_by_jupyterlab(page)
    (picture,) = page.iter("img")
    (width, height), tones = pixels(picture.get("src"))
    assert (width, height) == (440, 440)
    assert picture.get("width") == picture.get("height") == "220"
    assert set(tones) == {0, 1, 2}
    assert min(tones.count(1), tones.count(2)) > 5000


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
    styles = [bar.get("style", "") for bar in page.iter("div")]
    widths = [
        float(found[1]) for found in (re.match(r"width:([\d.]+)px;height:14px", style) for style in styles) if found
    ]
    certificate, best = result.certificate, result.alternatives[0]
    longest = 1.0 + certificate.gap
    wanted = [1.0, longest, certificate.runner_up, best.saving / result.saving]
    np.testing.assert_allclose(widths, 200.0 * np.array(wanted) / longest, atol=0.06)


def test_with_nothing_to_compare_there_is_no_picture(problem):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    object.__setattr__(result, "alternatives", ())
    assert "what poses save" not in card(result)


def test_dots_lie_where_they_should_and_those_at_the_edge_are_cut():
    text = base64.b64encode(
        png([np.array([[-1.0, 1.0], [0.0, 0.0], [5.0, 0.0]]), np.array([[1.0, 0.0]])], ("#000000", "#ff0000"), 41)
    )
    (width, _), tones = pixels("data:image/png;base64," + text.decode())
    sheet = np.frombuffer(tones, np.uint8).reshape(41, width)
    assert (sheet[0, 0], sheet[20, 20], sheet[20, 40]) == (1, 1, 2)
    assert np.count_nonzero(sheet) == 21 + 8 + 13


def test_jupyterlab_would_take_out_what_is_not_in_a_card():
    for text in ("<div><svg/></div>", '<div style="gap:16px">a</div>', '<div style="opacity:.7">a</div>'):
        assert not left_by_jupyterlab(parsed(text))
