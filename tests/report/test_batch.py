"""The page of a batch in a browser: columns sort, and it reads on a narrow screen."""

from __future__ import annotations

import pytest

from tear3d.cli import batch_rows
from tear3d.report.batch import batch_page
from tests.cli.test_batch_page import ROWS
from tests.conftest import NO_CHROMIUM
from tests.report.chromium import Chromium, find_chromium

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=NO_CHROMIUM)

NAMES = "[...document.querySelectorAll('td.pairname')].map((cell) => cell.textContent)"


@pytest.fixture
def browser(tmp_path):
    path = tmp_path / "index.html"
    rows = [*ROWS, ROWS[0] | {"name": "slow", "seconds": 40.0, "num_inliers": 9}]
    path.write_text(batch_page(batch_rows.summary(rows, "tear3d batch x --out y", 3.0)), encoding="utf-8")
    chromium = Chromium(find_chromium())
    chromium.path = path
    chromium.open(path)
    yield chromium
    chromium.close()


def press(browser, head):
    browser.run(f"[...document.querySelectorAll('th button')].find((b) => b.textContent === {head!r}).click()")
    return browser.run(NAMES)


def test_columns_sort_and_what_is_not_known_comes_last(browser):
    assert browser.run(NAMES)[0] == "bad <i>"
    up, down = press(browser, "time"), press(browser, "time")
    assert up[5] == down[0] == "slow"
    assert set(up[-2:]) == set(down[-2:]) == {"bad <i>", "later"}
    assert press(browser, "agree")[0] == "slow"  # 9 before 50: as numbers
    assert press(browser, "pair") == sorted(browser.run(NAMES))
    assert not browser.problems


@pytest.mark.parametrize("width", [390, 1280])
def test_rows_stay_low_and_the_page_does_not_scroll_sideways(browser, width):
    browser.open(browser.path, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('.scroll, pre')].some((box) => box.scrollWidth > box.clientWidth)"
    assert not browser.run(wide), "no column is out of sight"
    assert browser.run("Math.max(...[...document.querySelectorAll('tbody tr')].map((row) => row.offsetHeight))") < 120
