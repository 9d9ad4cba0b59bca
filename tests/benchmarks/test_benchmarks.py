"""The benchmarks run, count what they say they count, and draw what they measured."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import typer

from benchmarks import cell, core, one, paper, real, real_pairs, robust, scale
from benchmarks.measure import Limits, Run
from benchmarks.memory import PeakMemory
from benchmarks.output import count, percent, seconds, write_json
from benchmarks.passes import pass_seconds
from benchmarks.svg import Line, Panel, figure
from tear3d.errors import FileFormatError, InputError
from tear3d.synthetic import make_problem

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def already_compiled(monkeypatch):
    """Small problems compile what they need by themselves."""
    for module in (core, one, real, robust):
        monkeypatch.setattr(module, "warm_up", lambda *_: 0.0)


@pytest.fixture
def folder(tmp_path):
    """Three made-up pairs, one of them marked as undecidable."""
    pairs = tmp_path / "pairs"
    pairs.mkdir()
    for k, name in enumerate(("kitti_a", "own_b", "eth_c")):
        made = make_problem(400, 0.6, seed=k)
        np.savez(pairs / f"{name}.npz", src=made.source, dst=made.target, T_gt=made.transformation, xi=made.noise_bound)
    table = "| pair | N | undecidable |\n|---|---|---|\n| kitti_a | 400 |  |\n| eth_c | 400 | yes |\n"
    (tmp_path / "README.md").write_text(f"# Data\n\n{table}\n| peer | undecidable |\n|---|---|\n", encoding="utf-8")
    return tmp_path


# ---------------------------------------------------------------- units


def test_a_pass_grows_with_the_pairs():
    rng = np.random.default_rng(0)
    small, large = (rng.normal(size=(n, 3)) for n in (1_000, 400_000))
    assert 0.0 < pass_seconds(small, small) < pass_seconds(large, large)


def test_peak_memory_sees_what_is_allocated_and_freed():
    size = 64 << 20
    with PeakMemory() as memory:
        np.ones(size, dtype=np.uint8).sum()
    assert 0.9 * size < memory.extra < 1.5 * size
    assert memory.peak == memory.before + memory.extra


def test_numbers_are_written_for_people():
    assert [seconds(v) for v in (123.4, 1.234, 0.0567, 2e-5, float("nan"))] == [
        "123 s", "1.23 s", "56.7 ms", "20.0 µs", "–"
    ]  # fmt: skip
    assert [count(n) for n in (500, 5_000, 12_345, 500_000, 10_000_000)] == [
        "500", "5 000", "12 345", "5·10⁵", "10⁷"
    ]  # fmt: skip
    assert percent(0.998) == "99.8 %"


def test_json_has_no_infinities(tmp_path):
    write_json(tmp_path / "deep" / "a.json", {"gap": float("inf"), "n": np.int64(3), "flag": np.bool_(True)})
    content = json.loads((tmp_path / "deep" / "a.json").read_text())
    assert content["gap"] is None
    assert (content["n"], content["flag"]) == (3, True)
    assert content["machine"]["cores"] >= 1


def test_right_needs_both_errors_to_be_small():
    def run(turn, shift):
        return Run(1.0, turn, shift, 1.0, "optimal", True, True, 0.0, 1, {})

    limits = Limits(1.0, 0.1)
    assert run(0.9, 0.09).right(limits)
    assert not run(1.1, 0.09).right(limits)
    assert not run(0.9, 0.11).right(limits)
    assert not run(float("nan"), 0.0).right(limits)


# ---------------------------------------------------------------- pictures


def test_picture_puts_points_where_they_belong():
    panel = Panel("t", "n", "s", [Line("ours", [(10.0, 1.0), (100.0, 10.0), (1000.0, 100.0)]), Line("<old>", [], True)])
    root = ElementTree.fromstring(figure("A & B", [panel, panel]))
    circles = [
        (float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle") if c.find(SVG + "title").text
    ]
    assert len(circles) == 6
    (x0, y0), (x1, y1), (x2, y2) = circles[:3]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.3)  # equal factors, equal steps
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.3)
    assert y0 > y1
    assert root.get("aria-label") == "A & B"


def test_logarithmic_axes_refuse_zero():
    with pytest.raises(ValueError, match="logarithmic"):
        figure("", [Panel("", "", "", [Line("a", [(0.0, 1.0)])])])


# ---------------------------------------------------------------- the core table


def test_core_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(core, "CASES", ((500, 0.5), (500, 0.0)))
    monkeypatch.setattr(cell, "REPEATS", 1)
    core.main(seeds=2, threads=1, rel_gap=1e-2, scale=0.5, out=tmp_path)
    content = json.loads((tmp_path / "bench.json").read_text())
    for case in content["cases"]:
        assert (case["n"], case["right"], case["optimal"]) == (250, 2, 2)
        assert case["median_passes"] == pytest.approx(case["median_seconds"] / case["pass_seconds"])
    assert [b["name"].split()[0] for b in content["cell"]] == ["sweep", "first", "windows,", "windows,"]
    assert "250 pairs, 50 % wrong" in capsys.readouterr().out


def test_bounds_of_a_cell_are_ordered_and_beat_their_twins(monkeypatch):
    monkeypatch.setattr(cell, "REPEATS", 1)
    sweep, first, *windows = cell.measure(20_000, 0.99, level=3, twin_pairs=20)
    assert sweep.bound > first.bound > min(w.bound for w in windows) > 0.0
    assert sweep.speedup > 10
    assert first.speedup > 10
    assert all(w.speedup is None for w in windows)


# ---------------------------------------------------------------- scale


def test_a_size_runs_in_a_process_of_its_own():
    row = scale.measure(scale.Problem(1_000, 0.9, "ellipsoid"), threads=1, seed=0, time_limit=None)
    assert (row["status"], row["rel_gap"], row["closed"]) == ("optimal", 1e-3, True)
    assert row["rotation_error"] < 2.0
    with pytest.raises(RuntimeError, match="exit code 1"):
        scale.measure(scale.Problem(1_000, 0.9, "no such cloud"), threads=1, seed=0, time_limit=None)


def test_growth_of_time_is_fitted_and_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scale, "compile_kernels", lambda threads: None)

    def in_this_process(problem, threads, seed, time_limit):
        return one.measure(**problem._asdict(), rel_gap=1e-2, threads=threads, seed=seed, time_limit=time_limit)

    monkeypatch.setattr(scale, "measure", in_this_process)
    scale.main(sizes=[1_000, 2_000], exponent=True, threads=1, out=tmp_path)
    content = json.loads((tmp_path / "scale-exponent.json").read_text())
    assert [row["n"] for row in content["surface"]] == [1_000, 2_000]
    for row in content["surface"]:
        assert row["passes"] == pytest.approx(row["seconds"] / row["pass_seconds"])
        assert row["peak_bytes"] > row["extra_bytes"] >= 0
    printed = capsys.readouterr().out
    assert f"power of {content['exponent']:.2f}" in printed
    assert (tmp_path / "scale-exponent.svg").read_text().startswith("<svg")


def test_growth_is_the_slope_of_the_logarithms():
    rows = [{"n": n, "seconds": 3e-6 * n**1.2} for n in (10**5, 10**6, 10**7)]
    assert scale.growth(rows) == pytest.approx(1.2)


def test_sizes_of_the_paper_get_its_share_of_wrong_pairs():
    assert [(p.n, p.outlier_ratio) for p in scale.surface_problems("teapot", None)] == [
        (row.n, row.outlier_ratio) for row in paper.TABLE_4
    ]
    assert scale.surface_problems("teapot", [8_000_000])[0].outlier_ratio == 0.998
    assert paper.published(10**7, 0.998).seconds == 1972
    assert paper.published(10**7, 0.99) is None


def test_picture_names_the_papers_figures():
    rows = [
        {"n": row.n, "outlier_ratio": row.outlier_ratio, "seconds": 1.0 + k, "peak_bytes": 10**8 * (k + 1)}
        for k, row in enumerate(paper.TABLE_4)
    ]
    drawn = scale.picture("t", rows, 2)
    assert "the paper, 8 cores" in drawn
    assert len(re.findall(r"<title>the paper, 8 cores", drawn)) == 5
    assert "the paper" not in scale.picture("t", rows[:1], 2)


# ---------------------------------------------------------------- robust


def test_grid(tmp_path, capsys):
    robust.main(sizes=[300, 600], ratios=[0.0, 0.5], kinds=["clustered"], seeds=2, threads=1, out=tmp_path)
    cells = json.loads((tmp_path / "robust.json").read_text())["cells"]
    assert [(c["n"], c["outlier_ratio"], c["right"]) for c in cells] == [
        (300, 0.0, 2), (300, 0.5, 2), (600, 0.0, 2), (600, 0.5, 2)
    ]  # fmt: skip
    assert all(c["status"] == {"uncertified": 2} for c in cells)
    assert "right: 8 of 8" in capsys.readouterr().out


def test_unknown_kind_of_outliers():
    with pytest.raises(typer.BadParameter, match="off_centre"):
        robust.main(kinds=["sideways"])


# ---------------------------------------------------------------- real pairs


def test_real_pairs(folder, tmp_path, capsys):
    real.main(folder, certify=False, threads=1, out=tmp_path / "out")
    outcomes = json.loads((tmp_path / "out" / "real.json").read_text())["outcomes"]
    assert {o["pair"]: o["decidable"] for o in outcomes} == {"kitti_a": True, "own_b": True, "eth_c": False}
    assert all(o["right"] and o["f1"] > 0.95 for o in outcomes)
    printed = capsys.readouterr().out
    assert re.search(r"all +2/2 +100 %", printed)
    assert "Undecidable" in printed
    assert "right within a time" in (tmp_path / "out" / "real.svg").read_text()


def test_wrong_poses_and_poses_that_are_missing_are_not_right(folder):
    pair = real_pairs.read(folder / "pairs" / "own_b.npz")
    for pose in (np.eye(4), np.full((4, 4), np.nan)):
        outcome = real.judge(lambda _, pose=pose: (pose, "done"), pair, True)
        assert not outcome.right
    assert real.judge(lambda p: (p.truth, "done"), pair, True).f1 == 1.0


def test_limits_follow_the_data_set(folder):
    kitti, own, eth = (real_pairs.read(folder / "pairs" / f"{name}.npz") for name in ("kitti_a", "own_b", "eth_c"))
    assert kitti.limits == (5.0, 0.6)
    assert eth.limits == (3.0, 0.5)
    assert own.dataset == "other"
    assert own.limits == pytest.approx((5.0, 3 * own.noise_bound))


def test_undecidable_pairs_from_a_list(folder, tmp_path):
    listed = tmp_path / "skip.json"
    listed.write_text('["own_b"]')
    assert real_pairs.undecidable(folder, None) == {"eth_c"}
    assert real_pairs.undecidable(folder / "pairs", None) == {"eth_c"}
    assert real_pairs.undecidable(folder, listed) == {"own_b"}
    listed.write_text('{"own_b": 1}')
    with pytest.raises(FileFormatError, match=r"skip\.json: expected a JSON list"):
        real_pairs.undecidable(folder, listed)


def test_shuffled_pairs_have_no_consensus(folder, tmp_path, capsys):
    real.main(folder, certify=False, threads=1, shuffles=4, out=tmp_path)
    assert "0 of 4 called a success" in capsys.readouterr().out
    runs = json.loads((tmp_path / "shuffled.json").read_text())["runs"]
    assert [run["pair"] for run in runs] == ["eth_c", "kitti_a", "own_b", "eth_c"]


def test_bad_folders_are_named(tmp_path):
    with pytest.raises(InputError, match=r"no \.npz files"):
        real_pairs.files(tmp_path)
    np.savez(tmp_path / "a.npz", src=np.zeros((3, 3)))
    with pytest.raises(FileFormatError, match=r"a\.npz: expected an npz with src, dst"):
        real_pairs.read(tmp_path / "a.npz")
