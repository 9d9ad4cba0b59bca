"""`tear3d view` and `tear3d compare`: pages that need no network."""

import base64
import json
import re
import webbrowser

import numpy as np
import pytest

import tear3d
from tear3d.io.poses import write_pose
from tear3d.report.shown import POINT_BUDGET
from tests.bumpy import apply, bumpy_cloud, pose
from tests.cli.support import run
from tests.report.chromium import Chromium, find_chromium

LONG = "a_name_without_a_place_to_break_that_is_wider_than_a_phone"
POSE = pose([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tear3d.write_cloud("a.ply", bumpy_cloud(400, 0))
    tear3d.write_cloud("b.npy", apply(POSE, bumpy_cloud(900, 1)))
    write_pose("pose.txt", POSE)
    return tmp_path


def drawn(page):
    text = page.read_text("utf-8")
    assert "http" not in re.sub(r"http-equiv", "", text)
    return json.loads(re.search(r'<script [^>]*id="report-data">(.*?)</script>', text, re.DOTALL)[1])


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_view_writes_one_page_with_all_clouds(place, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail("no browser is wanted"))
    assert (
        run("view", "a.ply", "b.npy", "--pose", "pose.txt", "--out", "new/page.html").stdout
        == "wrote new/page.html (a.ply moved by pose.txt)\n"
    )
    clouds = drawn(place / "new" / "page.html")["clouds"]
    assert [cloud["count"] for cloud in clouds] == [400, 900]
    assert len({cloud["colour"] for cloud in clouds}) == 2
    first, second = (floats(cloud["points"]).reshape(-1, 3) for cloud in clouds)
    # The same surface in the same frame, but for a common scale.
    np.testing.assert_allclose(first.mean(axis=0), second.mean(axis=0), atol=0.1)
    text = (place / "new" / "page.html").read_text("utf-8")
    assert "a.ply, b.npy" in text
    assert "a.ply was moved by the pose pose.txt. Others lie where" in text
    assert "a.ply, moved by the pose pose.txt</td>" in text
    assert '<select id="tint">' not in text
    x, y, z = re.search(r"Drawn around \((.*?)\)", text)[1].split(", ")
    np.testing.assert_allclose([float(x), float(y), float(z)], POSE[:3, 3], atol=0.3)


def test_view_offers_the_colours_of_the_files(place):
    points = bumpy_cloud(300, 0)
    colours = np.random.default_rng(0).integers(0, 256, (300, 3), dtype=np.uint8)
    tear3d.Cloud(points, {"colors": colours, "intensity": np.arange(300.0)}).write("c.ply")
    run("view", "c.ply", "a.ply", "--out", "page.html")
    text = (place / "page.html").read_text("utf-8")
    assert re.findall(r"<option[^>]*>([^<]*)", text) == [
        "true colours of the files",
        "intensity of the files",
        "one for each file",
    ]
    coloured, plain = drawn(place / "page.html")["clouds"]
    assert plain["tints"] == [None, None]
    raw = np.frombuffer(base64.b64decode(coloured["tints"][0]["bytes"]), np.uint8).reshape(-1, 3)
    # Rows are in another order: points and colours alike.
    order = np.argsort(floats(coloured["points"]).reshape(-1, 3)[:, 0], kind="stable")
    np.testing.assert_array_equal(raw[order], colours[np.argsort(points[:, 0].astype(np.float32), kind="stable")])


@pytest.mark.parametrize("works", [True, False])
def test_view_opens_the_browser(place, monkeypatch, works):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or works)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    shown = run("view", "a.ply")
    assert len(opened) == 1
    assert opened[0].startswith("file://")
    assert opened[0].endswith("/view.html")
    assert ("open that file yourself" in shown.stderr) == (not works)


def test_the_size_of_a_page_does_not_grow_with_the_clouds(place):
    tear3d.write_cloud("large.npy", bumpy_cloud(POINT_BUDGET + 50_000, 2))
    run("view", "large.npy", "a.ply", "--out", "page.html", "--quiet")
    counts = [cloud["count"] for cloud in drawn(place / "page.html")["clouds"]]
    assert counts[1] == 400
    assert 0.3 * POINT_BUDGET < counts[0] <= 0.5 * POINT_BUDGET


def test_compare_measures_to_the_nearest_point(place):
    found = json.loads(run("compare", "a.ply", "b.npy", "--pose", "pose.txt", "--json").stdout)
    a, b = apply(POSE, tear3d.read_cloud("a.ply")), tear3d.read_cloud("b.npy")
    distances = np.linalg.norm(a[:, None] - b[None], axis=2).min(axis=1)
    assert (found["schema"], found["kind"], found["num_compared"]) == (1, "comparison", 400)
    assert found["mean"] == pytest.approx(distances.mean())
    assert found["rms"] == pytest.approx(np.sqrt(np.mean(distances**2)))
    assert found["max"] == pytest.approx(distances.max())
    assert found["quantiles"]["0.9"] == pytest.approx(np.quantile(distances, 0.9))
    assert sum(found["histogram"]["counts"]) == 400
    assert len(found["histogram"]["edges"]) == len(found["histogram"]["counts"]) + 1


def test_compare_leaves_out_what_does_not_overlap_and_colours_the_rest(place, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    cloud = np.vstack([tear3d.read_cloud("a.ply"), [[50.0, 0.0, 0.0]]])
    tear3d.write_cloud("c.ply", cloud)
    options = ("--pose", "pose.txt", "--max-distance", "1", "--report", "page.html")
    shown = run("compare", "c.ply", "b.npy", *options).stdout
    assert "1 farther away than 1 left out" in " ".join(shown.split())
    assert "█" in shown
    assert "…" not in shown
    assert "wrote page.html" in shown
    first, second = drawn(place / "page.html")["clouds"]
    values = np.frombuffer(base64.b64decode(first["values"]), np.uint8)
    assert len(values) == 400
    assert values.min() < 50
    assert values.max() == 255
    assert second["values"] is None


def test_clouds_that_are_equal_compare(place):
    found = json.loads(run("compare", "a.ply", "a.ply", "--report", "page.html", "--json").stdout)
    assert found["max"] == 0.0
    assert len(drawn(place / "page.html")["clouds"]) == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("view", "none.ply"), "no such file"),
        (("view", "a.ply", "."), "is a folder"),
        (("view", "a.ply", "--out", "x.pdf"), "ends in .html"),
        (("view", "a.ply", "--out", "a.ply"), "is one of the inputs"),
        (("compare", "a.ply", "b.npy", "--report", "x.png"), "ends in .html"),
        (("compare", "a.ply", "b.npy", "--max-distance", "0"), "no point of a.ply lies within 0"),
        (("compare", "a.ply", "."), "is a folder"),
    ],
)
def test_what_cannot_be_shown_is_one_line(place, arguments, error):
    failed = run(*arguments, code=2)
    assert error in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("moved", [False, True])
def test_two_references_are_named(place, moved):
    for name, zone in (("a.npz", 32), ("b.npz", 33)):
        tear3d.Cloud(bumpy_cloud(200, zone), crs=f'PROJCS["UTM zone {zone}N",AUTHORITY["EPSG","326{zone}"]]').write(
            name
        )
    by = ("--pose", "pose.txt") if moved else ()
    told = "a.npz has its coordinates in UTM zone 32N (EPSG:32632), b.npz in UTM zone 33N (EPSG:32633)"
    facts = json.loads(run("compare", "a.npz", "b.npz", *by, "--json").stdout)
    assert [note.startswith(told) for note in facts["notes"]] == [True] * (not moved)
    shown = run("compare", "a.npz", "b.npz", *by, "--report", "page.html").stdout
    assert (told in " ".join(shown.split())) == (told in (place / "page.html").read_text("utf-8")) == (not moved)
    assert ("moved by pose.txt," in " ".join(shown.split())) == moved
    seen = run("view", "a.npz", "b.npz", *by, "--out", "page.html")
    assert (told in seen.stderr) == (told in (place / "page.html").read_text("utf-8")) == (not moved)
    refined = run("refine", "a.npz", "b.npz", *(("--initial", "pose.txt") if moved else ()), "--json", code=None)
    assert (told in refined.stdout) == (not moved)


@pytest.mark.slow
def test_the_page_in_a_browser(place):
    binary = find_chromium()
    if binary is None:
        pytest.skip("needs Chromium")
    run("compare", "a.ply", "b.npy", "--pose", "pose.txt", "--report", "page.html", "--quiet")
    write_pose(f"{LONG}.txt", POSE)
    run("view", "a.ply", "b.npy", "--pose", f"{LONG}.txt", "--out", f"{LONG}.html", "--quiet")
    red = np.tile(np.array([220, 10, 10], np.uint8), (400, 1))
    classes = np.repeat(np.uint8([2, 6]), 200)
    tear3d.Cloud(bumpy_cloud(400, 0), {"colors": red, "classification": classes}).write("c.ply")
    run("view", "c.ply", "--out", "view.html", "--quiet")
    browser = Chromium(binary)
    try:
        browser.open(place / f"{LONG}.html", width=390)
        assert browser.run("document.documentElement.scrollWidth") <= 390
        browser.open(place / "page.html")
        coloured = (
            "(() => { const c = document.getElementById('view-shown'); const d = c.getContext('2d').getImageData(0, 0, "
            "c.width, c.height).data; let n = 0; for (let k = 0; k < d.length; k += 4) "
            "if (Math.abs(d[k] - d[k + 2]) > 60) n += 1; return n; })()"
        )
        browser.wait_for(f"{coloured} > 500")
        before = browser.run(coloured)
        browser.run("document.querySelector('[data-layer=\"0\"]').click()")
        browser.wait_for(f"{coloured} < {before / 4}")
        browser.open(place / "view.html")
        reddish = coloured.replace("Math.abs(d[k] - d[k + 2]) > 60", "d[k] > 150 && d[k + 1] < 90 && d[k + 2] < 90")
        browser.wait_for(f"{reddish} > 500")
        legends = "[...document.querySelectorAll('.legend:not(.hidden)')].map((each) => each.innerText).join('|')"
        assert "as the files have them" in browser.run(legends)
        before = browser.run(reddish)
        choose = (
            "(() => { const s = document.getElementById('tint'); s.value = %s; "
            "s.dispatchEvent(new Event('change')); })()"
        )
        browser.run(choose % "'1'")
        browser.wait_for(f"{reddish} < {before / 1.5}")
        assert "class 2: 200" in browser.run(legends)
        browser.run(choose % "''")
        browser.wait_for(f"{reddish} < {before / 10}")
        assert browser.run(legends) == ""
        assert not [text for text in browser.problems if "GPU stall" not in text and "readback" not in text]
    finally:
        browser.close()
