"""Everything about a run in one folder, which is complete or not there."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tear3d.cli.readme import NAME, readme
from tear3d.clouds.result import CloudResult
from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.io.cloud import Cloud
from tear3d.io.clouds import keeping_suffix
from tear3d.io.poses import write_pose
from tear3d.problem.arrays import FloatArray
from tear3d.problem.strict import strict
from tear3d.report.about import About
from tear3d.report.facts import versions
from tear3d.result import Result

SETTINGS = "settings.json"
TOOL = "tear3d"


@dataclass(frozen=True)
class Run:
    """What was found, and what it was found from."""

    result: Result
    source: Any
    """The pairs, row i of one matched to row i of the other."""
    target: Any
    summary: dict[str, Any]
    """For `result.json`."""
    title: str
    noise_bound: Any = None
    truth: FloatArray | None = None
    found: CloudResult | None = None
    """What the pairs are matches of."""
    source_cloud: Cloud | None = None
    """As it was read, where something is written of it."""
    target_cloud: Cloud | None = None
    carried: Cloud | None = None
    """The source cloud as it goes with the target, in the same rows."""
    python: str = ""
    """How to do it again without the command line."""
    about: About | None = None

    @property
    def refined(self) -> FloatArray | None:
        """The pose that the clouds moved, if they did."""
        if self.found is None or self.found.refinement is None or self.found.refinement.iterations == 0:
            return None
        return self.found.transformation

    @property
    def transformation(self) -> FloatArray:
        return self.result.transformation if self.found is None else self.found.transformation

    @property
    def covariance(self) -> FloatArray:
        """Of that pose."""
        return self.result.covariance if self.found is None else self.found.covariance

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """The HTML report of this run."""
        from tear3d.report.html import write_report  # slow to import, and not always wanted

        write_report(
            path,
            self.result,
            self.source,
            self.target,
            truth=self.truth,
            title=self.title,
            source_cloud=self.source_cloud,
            target_cloud=self.target_cloud,
            refined=self.refined,
            noise_bound=self.noise_bound,
            about=self.about,
        )


def to_json(value: Any) -> str:
    """Strict JSON: NumPy's scalars become plain ones, and what is not finite null."""
    return json.dumps(strict(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_folder(path: str | os.PathLike[str], run: Run, settings: dict[str, Any], log: str) -> list[str]:
    """Write pose, inliers, aligned cloud, report, result, log and settings of a run.

    Parameters
    ----------
    path
        The folder. An older one is replaced only if `check_folder` allows it.
    run : Run
    settings : dict
        How the run was started: goes into `settings.json`, with versions and the names of the files.
    log : str
        The text of `run.log`.

    Returns
    -------
    list of str
        The names of the files.
    """
    check_folder(path)
    with _replaced(Path(os.path.realpath(path))) as folder:
        write_pose(folder / "pose.txt", run.transformation)
        rows = np.flatnonzero(run.result.inlier_mask)
        for number, one in enumerate(run.result.instances[1:], 2):
            write_pose(folder / f"pose_{number}.txt", one.transformation)
        if run.result.settings.get("max_instances", 1) > 1:
            header = "rows of the pairs that agree with a motion, the first row is 0; its number, that of pose.txt is 1"
            labels = run.result.labels if run.result.success else np.zeros(run.result.num_pairs, np.int64)
            rows = np.flatnonzero(labels)
            _write_table(folder / "inliers.txt", np.stack([rows, labels[rows]], axis=1), "%d", header)
        elif run.source_cloud is None:
            header = "rows of the pairs that agree with the pose, the first row is 0"
            _write_table(folder / "inliers.txt", rows, "%d", header)
        else:
            header = "matched points that agree with the pose: source x y z, target x y z"
            matches = np.hstack((run.source[rows], run.target[rows]))
            _write_table(folder / "inliers.txt", matches, "%.17g", header)
            moved = (run.source_cloud if run.carried is None else run.carried).transformed(run.transformation)
            moved.write(folder / f"aligned{keeping_suffix(moved)}")
        run.write_report(folder / "report.html")
        _write_text(folder / "result.json", to_json(run.summary))
        _write_text(folder / "run.log", log)
        names = sorted([SETTINGS, NAME, *(file.name for file in folder.iterdir())])
        _write_text(folder / NAME, readme(str(settings.get("command", "")), names))
        facts = {"tool": TOOL, **settings, "versions": versions(), "files": names}
        _write_text(folder / SETTINGS, to_json(facts))
    return names


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that holds anything but an earlier run."""
    folder = Path(os.path.realpath(path))
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{path}: is a file; pass the name of a folder, or of a .json file")
    present = {entry.name for entry in folder.iterdir()}
    if Path.cwd().is_relative_to(folder):
        raise InputError(f"{path}: is the current folder, which cannot be replaced; pass a new name")
    if not present:
        return
    foreign = sorted(present - _written_by_us(folder))
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise InputError(f"{path}: holds {foreign[0]}{more}, not written by tear3d; pass a new or empty folder")


def sha256(path: str | os.PathLike[str]) -> str:
    """Of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A new folder that takes the name of `folder` when the block ends without an exception."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    stem = f".{folder.name[:100]}.{secrets.token_hex(6)}"
    new, old = folder.with_name(f"{stem}.tmp"), folder.with_name(f"{stem}.old")
    new.mkdir()
    try:
        yield new
        try:
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        except BaseException:
            if old.exists():
                old.rename(folder)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _written_by_us(folder: Path) -> set[str]:
    """The names of an earlier run's files; none if its settings are not ours."""
    try:
        settings = json.loads((folder / SETTINGS).read_text("utf-8"))
        return set(settings["files"]) if settings["tool"] == TOOL else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def _write_table(path: Path, rows: Iterable[Any], style: str, header: str) -> None:
    with atomic_write(path) as file:
        np.savetxt(file, np.asarray(rows), fmt=style, header=header, encoding="utf-8")
