"""What a batch shows: the page and the table, and that what they say is so."""

from __future__ import annotations

import re
from html import unescape
from io import StringIO

import pytest
from rich.console import Console

from tear3d.cli import batch_rows
from tear3d.cli.batch_board import Board, table
from tear3d.report.batch import batch_page


def rows_on(path):
    """The names on a page, first to last."""
    text = path if isinstance(path, str) else path.read_text()
    return [unescape(name) for name in re.findall(r'<td class="pairname" data-key="([^"]*)"', text)]


def row(name, state="done", **more):
    usual = dict.fromkeys(batch_rows.FIELDS) | {"name": name, "state": state, "registered": False, "earlier": False}
    if state == "done":
        usual |= {"verdict": "confirmed", "status": "optimal", "num_inliers": 50, "num_pairs": 1000, "seconds": 2.0}
        usual |= {"registered": True, "inlier_rmse": 0.01, "reason": "so it is", "file": f"pairs/{name}.json"}
    return usual | more


ROWS = [
    row("good"),
    row("later", "waiting"),
    row("unsure", verdict="doubtful", registered=False),
    row("no proof", registered=False),
    row("bad <i>", "failed", reason="no <b>file</b>"),
    row("before", earlier=True, ambiguous=True, report="before.html"),
    row("wrong", verdict="rejected", registered=False),
]


def test_the_page_has_what_needs_a_look_first_and_claims_no_more_than_the_rows():
    page = batch_page(batch_rows.summary(ROWS, "tear3d batch x --out y", 3.0))
    assert rows_on(page) == ["bad <i>", "wrong", "unsure", "no proof", "later", "good", "before"]
    assert "2 of 7 pairs are registered" in page
    assert "No result: 1. A result that cannot be relied on as it is: 3. Not done yet" in page
    assert "not complete" in page
    assert "no &lt;b&gt;file" in page
    assert "<b>file" not in page
    assert 'href="pairs/before.html"' in page
    assert 'href="pairs/no%20proof.json"' in page
    assert page.count(">not registered</span>") == 1  # where the verdict alone would say otherwise
    assert not re.search(r"(?:src|href)=\"?https?:", page)


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        (ROWS[:1], "The pair is registered"),
        (ROWS[:1] * 2, "All 2 pairs are registered"),
        (ROWS[1:3], "0 of 2 pairs are"),
    ],
)
def test_headlines(rows, headline):
    page = batch_page(batch_rows.summary(rows, "", 1.0))
    assert headline in page
    assert ("Every pair has a result that passed its tests." in page) == all(each["registered"] for each in rows)


def test_counts_add_up():
    found = batch_rows.counts(ROWS)
    assert found == {"pairs": 7, "registered": 2, "not_registered": 3, "failed": 1, "waiting": 1, "earlier": 1}
    assert len(batch_rows.as_csv(ROWS).splitlines()) == 8


@pytest.mark.parametrize("width", [60, 120])
def test_the_table_fits_the_terminal(width):
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, width=width)
    board = Board(quiet=False, console=console)
    board.look = lambda: (ROWS, 2)
    with board:
        for each in ROWS:
            board.tell(each | {"name": each["name"] * 12}, 1, 7)
        console.print(board._draw())
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert max(map(len, text.splitlines())) <= width
    assert "6 of 7 pairs · 2 registered · 3 not · 1 failed · 1 from before" in " ".join(text.split())
    assert "50 of 1000" in text
    assert "about" in text


def test_lines_where_there_is_no_terminal_and_nothing_when_quiet():
    for quiet in (False, True):
        screen = StringIO()
        with Board(quiet=quiet, console=Console(file=screen, width=200)) as board:
            board.tell(ROWS[0], 1, 7)
            board.tell(ROWS[4], 2, 7)
            board.tell(ROWS[5], 3, 7)
        expected = [
            "[1/7] good: confirmed, 50 of 1000 agree, 2.0 s",
            "[2/7] bad <i>: failed, no <b>file</b>",
            "[3/7] before: confirmed, 50 of 1000 agree, found by an earlier run",
        ]
        assert screen.getvalue().splitlines() == ([] if quiet else expected)
    assert table([], 60).row_count == 0
