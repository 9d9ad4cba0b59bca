"""Which pairs a batch registers: a folder of scans, or the rows of a CSV file."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tear3d.errors import InputError
from tear3d.features.matching import check_match_options
from tear3d.features.voxel import check_voxel_size
from tear3d.io.clouds import MODULES
from tear3d.io.folders import clouds_in
from tear3d.problem.options import Options, as_number

_NAME = 60
"""Letters of a name that become part of that of a file; free choice."""


@dataclass(frozen=True)
class Job:
    """One pair of clouds, or one file of pairs."""

    name: str
    files: tuple[Path, ...]
    """Source and target, or the file of pairs."""
    options: Mapping[str, Any]
    where: str
    """For messages: the row of the file, or the names of the scans."""

    @property
    def slug(self) -> str:
        """The name as part of the name of a file."""
        return re.sub(r"[^\w.-]+", "_", self.name, flags=re.ASCII).strip("._")[:_NAME] or "pair"


def _flag(text: str) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in known:
        raise InputError("expected yes or no")
    return known[text.lower()]


def _choice(**known: Any) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text not in known:
            raise InputError(f"expected {', '.join(known)}")
        return known[text]

    return read


def _number(text: str) -> float:
    try:
        return as_number(float(text), "it")
    except ValueError:
        raise InputError("expected a number") from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError("expected a whole number") from None


def _limit(text: str) -> float | None:
    return None if text == "none" else _number(text)


OPTIONS: dict[str, Callable[[str], Any]] = {
    "voxel_size": _number,
    "noise_bound": _number,
    "certify": _choice(pose="pose", rows="rows", none=False),
    "refine": _choice(gicp="gicp", icp="icp", plane="plane", none=None),
    "keypoints": _choice(iss="iss"),
    "ratio": _number,
    "top_k": _whole,
    "mutual": _flag,
    "time_limit": _limit,
    "rel_gap": _number,
    "seed": _whole,
}
"""Columns that change how a row is registered."""
FOR_PAIRS = ("noise_bound", "certify", "time_limit", "rel_gap", "seed")
"""Those that a file of pairs can have."""


def check_options(options: Mapping[str, Any]) -> None:
    """An InputError for what no pair of clouds could be registered with."""
    if "voxel_size" in options:
        check_voxel_size(options["voxel_size"])
    if not 0.0 < options.get("noise_bound", 1.0) < math.inf:
        raise InputError(f"noise_bound is {options['noise_bound']}: expected a positive number")
    check_match_options(options.get("ratio"), options.get("top_k", 1))
    Options.of(**{name: options[name] for name in ("certify", "time_limit", "rel_gap", "seed") if name in options})


def read_manifest(path: Path, out: Path, options: Mapping[str, Any], *, all_pairs: bool) -> list[Job]:
    """The jobs in their order, each with the options of the command and its own, or an InputError."""
    check_options(options)
    if path.is_dir():
        return _of_folder(path, out, options, all_pairs)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; pass a folder of scans or a CSV file of pairs")
    if all_pairs:
        raise InputError(f"--all-pairs is for a folder of scans, and {path} is a file: it says which pairs it means")
    jobs = _of_csv(path, options)
    _refuse_twins(path, jobs)
    return jobs


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sorts scan2 before scan10."""
    parts = re.split(r"(\d+)", name.lower())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _of_folder(folder: Path, out: Path, options: Mapping[str, Any], all_pairs: bool) -> list[Job]:
    if os.path.realpath(folder) == os.path.realpath(out):
        raise InputError(f"--out is the folder of the scans, {folder}: pass another, one inside it if you like")
    scans = clouds_in(folder)
    scans.sort(key=lambda file: (natural(file.name), file.name))
    if len(scans) < 2:
        found = "1 scan" if scans else "no scans"
        raise InputError(f"{folder} has {found}: expected at least two, as {', '.join(sorted(MODULES))}")
    chosen: Iterable[tuple[Path, Path]] = itertools.combinations(scans, 2) if all_pairs else itertools.pairwise(scans)
    same_stem = len({scan.stem for scan in scans}) < len(scans)

    def name(scan: Path) -> str:
        return scan.name if same_stem else scan.stem

    # The later scan is moved onto the earlier one, as in a chain.
    return [
        Job(f"{name(later)}--{name(earlier)}", (later, earlier), dict(options), f"{later.name} onto {earlier.name}")
        for earlier, later in chosen
    ]


def _of_csv(path: Path, options: Mapping[str, Any]) -> list[Job]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8; expected a CSV file of pairs") from None
    if "\0" in text:
        raise InputError(f"{path}: is not a text file; expected a CSV file of pairs")
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    columns = [str(name).strip() for name in _header(reader, path)]
    reader.fieldnames = columns
    known = ["name", "source", "target", "pairs", *OPTIONS]
    unknown = [name for name in columns if name not in known]
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t|"):
        raise InputError(f"{path}: the first line is {columns[0]!r}; expected columns with commas between them")
    if unknown:
        raise InputError(f"{path}: unknown column {unknown[0]!r}; expected {', '.join(known)}")
    if len(set(columns)) < len(columns):
        raise InputError(f"{path}: a column is there twice")
    if "pairs" not in columns and not {"source", "target"} <= set(columns):
        raise InputError(
            f"{path}: has the columns {', '.join(columns) or 'none'}; expected source and target, or pairs"
        )
    jobs = []
    try:
        for row in reader:
            if any((value or "").strip() for value in row.values() if not isinstance(value, list)):
                jobs.append(_job(row, options, path, reader.line_num))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.reader.line_num}: {error}") from None
    if not jobs:
        raise InputError(f"{path}: has no rows; expected one for each pair")
    return jobs


def _header(reader: csv.DictReader[str], path: Path) -> Sequence[str]:
    try:
        return reader.fieldnames or ()
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.reader.line_num}: {error}") from None


def _job(row: dict[Any, Any], options: Mapping[str, Any], path: Path, line: int) -> Job:
    where = f"{path}, line {line}"
    if None in row:
        raise InputError(f"{where}: has more cells than the header has columns")
    given = {name: value.strip() for name, value in row.items() if value and value.strip()}
    clouds = [name for name in ("source", "target") if name in given]
    if ("pairs" in given) == bool(clouds) or len(clouds) == 1:
        raise InputError(f"{where}: expected source and target, or pairs")
    kinds = ("pairs",) if "pairs" in given else ("source", "target")
    files = tuple(path.parent / given[kind] for kind in kinds)
    for file in files:
        if not file.is_file():
            raise InputError(f"{where}: {file} is not there" if not file.exists() else f"{where}: {file} is no file")
    if len(files) == 2 and os.path.realpath(files[0]) == os.path.realpath(files[1]):
        raise InputError(f"{where}: source and target are the same file, {files[0]}")
    own: dict[str, Any] = {}
    for name, read in OPTIONS.items():
        if name in given:
            try:
                own[name] = read(given[name])
            except InputError as error:
                raise InputError(f"{where}: {name} is {given[name]!r}: {error}") from None
    try:
        check_options(own)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if len(files) == 1:
        unfit = [name for name in own if name not in FOR_PAIRS]
        if unfit:
            raise InputError(f"{where}: {unfit[0]} is for clouds, not for a file of pairs")
        options = {name: value for name, value in options.items() if name in FOR_PAIRS}
    stems = "--".join(file.stem for file in files)
    return Job(given.get("name", stems), files, {**options, **own}, where)


def _refuse_twins(path: Path, jobs: list[Job]) -> None:
    """The same work twice is a slip, and one name for two pairs hides one of them."""
    seen: dict[Any, str] = {}
    for job in jobs:
        work = (tuple(os.path.realpath(file) for file in job.files), tuple(sorted(map(str, job.options.items()))))
        for key, what in ((work, "the same files with the same options"), (job.name, f"the name {job.name!r}")):
            if key in seen:
                raise InputError(f"{job.where}: {what} as {seen[key].removeprefix(f'{path}, ')}")
            seen[key] = job.where
