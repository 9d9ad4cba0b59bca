"""The page of a map."""

from __future__ import annotations

import json
import re
import time

import pytest

from tear3d.report.map import write_map_page
from tests.conftest import NO_CHROMIUM
from tests.mapping.made import loop, made_map
from tests.report.chromium import Chromium, find_chromium


@pytest.fixture(scope="module")
def made():
    pairs = loop() | {(0, 1): "wrong", (0, 3): "doubtful", (1, 4): "rejected", (2, 5): "failed"}
    return made_map(pairs)[0]


def test_it_shows_the_graph_and_every_verdict(made, tmp_path):
    text = write_map_page(tmp_path / "map.html", made, title="a <survey>").read_text()
    assert "a &lt;survey&gt;" in text
    assert text.count('<line class="edge kept') == made.count("kept")
    assert text.count('<line class="edge dropped"') == 1
    assert text.count('<line class="edge other"') == 3
    assert text.count('<circle class="node"') == 6
    table = re.search(r'<section id="edges">.*?</section>', text, re.DOTALL).group()
    assert table.count("<tr>") == 1 + len(made.edges)
    for words in ("dropped", "doubtful as made up", "rejected as made up", "only 2 matches as made up"):
        assert words in table
    assert "nothing is proven about the map as a whole" in text
    assert "$" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL).replace("${", "")


def test_scans_outside_the_map_are_named_and_not_drawn(tmp_path):
    made, *_ = made_map({(0, 1): "confirmed", (2, 3): "confirmed", (1, 2): "doubtful"}, count=4)
    text = write_map_page(tmp_path / "map.html", made).read_text()
    assert text.count('<circle class="node"') == 2
    assert "not in the map: scan 2, scan 3" in text
    assert "part 2" in text
    assert '<span class="pill warn">not all placed</span>' in text


def test_nothing_joined_still_has_a_page(tmp_path):
    made, *_ = made_map({(0, 1): "rejected"}, count=2)
    text = write_map_page(tmp_path / "map.html", made).read_text()
    assert '<span class="pill bad">' in text


@pytest.mark.skipif(find_chromium() is None, reason=NO_CHROMIUM)
def test_it_draws_the_map_in_a_browser(made, tmp_path):
    path = write_map_page(tmp_path / "map.html", made)
    browser = Chromium(find_chromium())
    try:
        browser.open(path)
        inked = """(() => {
          const c = document.getElementById("view-map");
          const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          let n = 0;
          for (let k = 0; k < p.length; k += 4) {
            const rgb = p.slice(k, k + 3);
            if (Math.max(...rgb) - Math.min(...rgb) > 40) n += 1;
          }
          return n;
        })()"""
        browser.wait_for(f"{inked} > 500")
        with_points = browser.run(inked)
        browser.run("document.querySelector('[data-layer=points]').click()")
        browser.wait_for(f"{inked} < {with_points}")
        time.sleep(0.1)
        assert not [each for each in browser.problems if "GPU stall" not in each and "readback" not in each]
        assert (
            json.loads(browser.run("document.getElementById('report-data').textContent"))["colours"][0]
            == made.merged().colours[0].tolist()
        )
    finally:
        browser.close()
