"""Small scans for batches, and batches that are killed.

    python -m tests.cli.batches --count 20

kills batches twenty times at random moments, goes on, and checks that nothing was lost, done twice or left half.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

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


def start(manifest: Path, out: Path, *options: str, errors: Any = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """A batch in a process group of its own."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from tear3d.cli import main; main()"
    command = [sys.executable, "-c", code, "batch", str(manifest), "--out", str(out), "--quiet", *OPTIONS, *options]
    return subprocess.Popen(command, stderr=errors, start_new_session=True)


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


class Kill(NamedTuple):
    """One of many."""

    results: int
    """So many more must have come,"""
    seconds: float
    """and so long ago, or since the start if it is none."""
    everybody: bool
    """The workers too; or the batch alone, whose workers find out."""
    found: int
    """Pairs that were done."""


class Killer:
    """Starts batches of some scans and kills them; the next one goes on, until all is done, and another begins."""

    def __init__(self, scans: Path, folder: Path) -> None:
        self._scans, self._folder = scans, folder
        self._errors = (folder / "errors").open("w+b")
        self._number = 0
        self.pairs = len(list(scans.iterdir())) - 1
        self._go_on()
        written = [state[1] * 1e-9 for state in finished(self._out).values()]
        self.start = min(written) - self._began
        """Seconds that an undisturbed batch takes to its first result,"""
        self.pace = (max(written) - min(written)) / (self.pairs - 1)
        """and from one to the next."""
        self._expected = self._poses()
        self._begin_anew()

    def moment(self, rng: np.random.Generator) -> tuple[int, float]:
        """Some while it starts, more while it works: whatever the machine is busy with, all moments occur."""
        left = self.pairs - len(self._known)
        results = 0 if rng.random() < 0.3 or not left else int(rng.integers(1, left + 1))
        return results, float(rng.uniform(0.0, 2.0 * self.pace if results else self.start))

    def kill(self, results: int, seconds: float, everybody: bool) -> Kill | None:
        """Kill one at a moment; None if it had ended by then, and the next is another batch."""
        running = start(self._scans, self._out, errors=self._errors)
        try:
            until = len(self._known) + results
            while results and len(list(self._out.glob("pairs/*.json"))) < until and running.poll() is None:
                time.sleep(0.002)
            with suppress(subprocess.TimeoutExpired):
                running.wait(seconds)
        finally:
            ended = running.poll()
            if ended is None:
                (os.killpg if everybody else os.kill)(running.pid, signal.SIGKILL)
                running.wait()
        self._look()
        if ended is None:
            return Kill(results, seconds, everybody, len(self._known))
        assert ended == 0, self._said()
        self._finish()
        return None

    def end(self) -> None:
        """Go on with the last one."""
        self._go_on()
        self._finish()
        self._errors.close()

    def _begin_anew(self) -> None:
        self._number += 1
        self._known: dict[str, tuple[int, int, bytes]] = {}

    @property
    def _out(self) -> Path:
        return self._folder / f"out{self._number}"

    def _go_on(self) -> None:
        self._began = time.time()
        assert start(self._scans, self._out, errors=self._errors).wait(300) == 0, self._said()

    def _look(self) -> None:
        """At once, while workers may still be there: what was known is the same file, and what is new is whole."""
        now = finished(self._out)
        assert self._known.items() <= now.items(), "a result was lost, or found twice"
        self._known = now
        check_summary(self._out)

    def _finish(self) -> None:
        self._look()
        told = json.loads((self._out / "summary.json").read_text())
        assert told["complete"]
        assert told["counts"]["registered"] == len(self._known) == self.pairs
        assert self._poses() == self._expected
        left = [path.name for path in self._out.rglob("*") if path.name.endswith(".tmp")]
        assert not left, left
        assert not self._said()
        self._begin_anew()

    def _poses(self) -> list[Any]:
        return [row["transformation"] for row in json.loads((self._out / "summary.json").read_text())["rows"]]

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode()


def kill_often(scans: Path, folder: Path, count: int, seed: int) -> list[Kill]:
    """So many kills at random moments between the start and the end of batches, printed."""
    rng = np.random.default_rng(seed)
    killer, kills = Killer(scans, folder), list[Kill]()
    print(f"seed {seed}: {killer.pairs} pairs, {killer.start:.2f} s to the first, then {killer.pace:.2f} s each")
    while len(kills) < count:
        kill = killer.kill(*killer.moment(rng), bool(rng.integers(2)))
        if kill is not None:
            kills.append(kill)
            who = "with its workers" if kill.everybody else "alone"
            when = f"{kill.seconds:.2f} s after {f'{kill.results} more pairs' if kill.results else 'the start'}"
            print(f"{len(kills)}: killed {who} {when}, {kill.found} of {killer.pairs} pairs done", flush=True)
    killer.end()
    return kills


def main(
    count: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    scans: Annotated[int, typer.Option(min=3)] = 8,
) -> None:
    """Kill batches at random moments."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "scans"
        make_scans(made, scans)
        kill_often(made, Path(folder), count, seed)


if __name__ == "__main__":
    typer.run(main)
