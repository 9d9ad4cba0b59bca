"""The documentation names every field of what maps and batches are told in."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

import tear3d
from tear3d.cli import batch_rows
from tear3d.mapping.result import Map, MapEdge
from tests.bumpy import apply, bumpy_cloud, pose
from tests.cli.support import run

DOCS = Path(__file__).resolve().parents[2] / "docs"


def named(page, heading):
    """What stands in code font below a heading, until the next one."""
    text = (DOCS / page).read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return set(re.findall(r"`(\w+)`", text))


def test_the_fields_of_a_map_are_documented():
    told = set(re.findall(r'^ {16}"(\w+)": ', inspect.getsource(Map.to_dict), re.MULTILINE))
    assert {"scans", "edges", "hanging"} < told
    assert told | {field.name for field in dataclasses.fields(MapEdge)} <= named("map.md", "The JSON")


def test_the_fields_of_a_batch_are_documented(tmp_path, monkeypatch):
    assert set(batch_rows.FIELDS) <= named("many.md", "A folder of scans")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    for k in range(2):
        tear3d.write_cloud(f"empty/{k}.ply", np.eye(3)[:2])  # too few points: no kernel is needed
    found = json.loads(run("batch", "empty", "--out", "all", "--json", code=3).stdout)
    assert set(found) - {"schema", "kind"} <= named("cli.md", "JSON")


def test_refine_says_how_exact_the_pose_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = pose([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    tear3d.write_cloud("a.ply", bumpy_cloud(4000, 0))
    tear3d.write_cloud("b.ply", apply(truth, bumpy_cloud(4000, 1)))
    np.savetxt("pose.txt", truth)
    shown = " ".join(run("refine", "a.ply", "b.ply", "--initial", "pose.txt").stdout.split())
    turn, place = re.search(r"uncertainty about ([\d.e-]+)° and ([\d.e-]+) at the centre", shown).groups()
    assert 0.0 < float(turn) < 1.0
    assert 0.0 < float(place) < 0.05


@pytest.mark.parametrize("page", ["map.md", "many.md", "cli.md"])
def test_links_between_them_have_their_headings(page):
    for other, anchor in re.findall(r"\]\((\w+\.md)#([\w-]+)\)", (DOCS / page).read_text(encoding="utf-8")):
        headings = re.findall(r"^#+ (.*)$", (DOCS / other).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in headings}
