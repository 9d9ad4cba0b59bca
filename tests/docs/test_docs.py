"""Every code block of the README and the docs runs and prints what the page shows, and the site builds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from docs.blocks import ROOT, blocks, outputs, pages, refresh, same_words


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_shows(page):
    for block, printed, shown in outputs(page):
        if shown is not None:
            assert same_words(printed, shown.code), f"{page.name}, line {block.line} prints:\n{printed}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_block_says_whether_it_runs(page):
    unknown = {block.language for block in blocks(page.read_text(encoding="utf-8"))} - {
        "python",
        "shell",
        "text",
    }
    assert not unknown, f"{page.name}: mark blocks that cannot run as text, not {unknown}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_pictures_and_linked_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)|src=\"([^\"]+)\"", text):
        name = link[0] or link[1]
        if not name.startswith(("http", "mailto:")):
            assert (page.parent / name).exists(), f"{page.name} links to {name}"


def test_a_wrong_output_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('found', 3)\n```\n\n```text\nlost 3\n```\n")
    ((_, printed, shown),) = outputs(page)
    assert shown is not None
    assert not same_words(printed, shown.code)
    refresh(page)
    ((_, printed, shown),) = outputs(page)
    assert shown is not None
    assert shown.code == "found 3\n"
    assert same_words(printed, "found 4\n")


def test_site_builds_without_warnings(tmp_path):
    pytest.importorskip("zensical", reason="pip install 'tear3d[docs]' to build the site")
    pytest.importorskip("mkdocstrings")
    for name in ("docs", "tear3d"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "axis_tolerance" in (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    loaded = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(https?://[^\"\s>]+)")
    for html in (tmp_path / "site").rglob("*.html"):
        urls = [url for url in loaded.findall(html.read_text(encoding="utf-8")) if "localhost" not in url]
        assert not urls, f"{html.name} needs the network: {urls}"


@pytest.mark.parametrize("level", [1, 3, 5])
def test_bounds_in_the_figures_are_bounds(level):
    from docs.figures.bounds import typical_cell
    from docs.figures.cell_bounds import (
        best_in_cell,
        first_order_bound,
        point_bound,
        row_problem,
        window_bound,
    )

    problem = row_problem(3000, 0.9)
    cell = typical_cell(problem, level)
    shifts = np.arange(-18, 19) * problem.xi / 6
    inside = best_in_cell(problem, cell, shifts)
    for bound in (point_bound, first_order_bound, window_bound):
        assert np.all(bound(problem, cell, shifts) >= inside), bound.__name__


def test_pictures_are_small():
    pictures = list((Path(ROOT) / "docs" / "images").iterdir())
    assert pictures
    assert sum(picture.stat().st_size for picture in pictures) < 600_000
