"""Small scans for batches, and batches that are killed.

    python -m tests.cli.batches --count 20

kills twenty batches at random moments, goes on with each, and checks that nothing was lost, done twice or left half.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from tests.bumpy import apply, bumpy_cloud, pose

OPTIONS = ("--certify", "none", "--refine", "none", "--voxel-size", "0.15")


def make_scans(folder: Path, count: int, points: int = 1500) -> None:
    """Looks at one surface from around it."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(count):
        cloud = bumpy_cloud(points, k)
        cloud = cloud[cloud @ [np.cos(0.3 * k), np.sin(0.3 * k), 0.0] > -0.7]
        np.save(folder / f"scan{k + 1}.npy", apply(pose(rng.normal(size=3), rng.normal(size=3)), cloud))


def start(manifest: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    code = f"import sys; sys.path[:] = {sys.path!r}; from tear3d.cli import main; main()"
    command = [sys.executable, "-c", code, "batch", str(manifest), "--out", str(out), "--quiet", *OPTIONS, *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def finished(out: Path) -> dict[str, tuple[int, int, bytes]]:
    """Of every result: which file it is, when it was written, and what it says. All of them are whole."""
    found = {}
    for path in sorted(out.glob("pairs/*.json")):
        state, text = path.stat(), path.read_bytes()
        assert json.loads(text)["result"]["transformation"]
        found[path.name] = state.st_ino, state.st_mtime_ns, text
    return found


def check_summary(out: Path) -> None:
    """If it is there, it is whole, and what it says is done is."""
    path = out / "summary.json"
    if not path.exists():
        return
    told = json.loads(path.read_text())
    for row in told["rows"]:
        assert row["state"] in ("done", "waiting")
        assert row["state"] != "done" or (out / row["file"]).exists()
    assert told["complete"] == all(row["state"] == "done" for row in told["rows"])
    lines = (out / "summary.csv").read_text().splitlines()
    assert len(lines) == len(told["rows"]) + 1
    if (out / "index.html").exists():
        assert (out / "index.html").read_text().rstrip().endswith("</html>")


def kill_and_go_on(scans: Path, out: Path, results: int, seconds: float) -> int:
    """Kill a batch some seconds after it has so many results, and go on; how many pairs were done by then."""
    running = start(scans, out)
    try:
        while len(list(out.glob("pairs/*.json"))) < results and running.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        os.kill(running.pid, signal.SIGKILL)
    finally:
        _, errors = running.communicate()
    assert not errors, errors.decode()
    time.sleep(0.2)  # the workers notice
    before = finished(out)
    check_summary(out)
    again = start(scans, out)
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors.decode()
    after = finished(out)
    assert before.items() <= after.items(), "a result was lost, or found twice"
    check_summary(out)
    told = json.loads((out / "summary.json").read_text())
    assert told["complete"]
    assert told["counts"]["earlier"] == len(before)
    assert told["counts"]["registered"] == len(after) == len(list(scans.iterdir())) - 1
    left = [path.name for path in out.rglob("*") if path.name.endswith(".tmp")]
    assert not left, left
    return len(before)


def moment_of(rng: np.random.Generator, pairs: int) -> tuple[int, float]:
    """A random number of results, and seconds after that: whatever the machine is busy with, all moments occur."""
    return int(rng.integers(0, pairs)), float(rng.uniform(0.0, 0.4))


def main(
    count: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    scans: Annotated[int, typer.Option(min=2)] = 8,
) -> None:
    """Kill batches at random moments."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "scans"
        make_scans(made, scans)
        for k in range(count):
            moment = moment_of(rng, scans - 1)
            done = kill_and_go_on(made, Path(folder) / f"out{k}", *moment)
            print(f"{k + 1}: killed with {done} of {scans - 1} pairs done, the rest came later", flush=True)


if __name__ == "__main__":
    typer.run(main)
