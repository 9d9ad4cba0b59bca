"""ETH's terrestrial laser scans (Theiler, Wegner, Schindler, ISPRS Journal 2014): arch, courtyard, facade, and so on.

A folder for each scene: scans `s1.*`, `s2.*`, ... in any format that is read, perhaps thinned and renamed
(`s1_v0.1.pcd`), and for each pair the truth as `s2-s1.pose` (or .txt, .tfm): 4×4 as text, maps s2 to s1. Matches are
taken from `s2_s1*.match`, six columns, where there are any (the form in which TCF ships them), else from our own
features.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.datasets.matching import clouds_to_pairs
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found
from benchmarks.datasets.rules import RULES
from tear3d.errors import InputError
from tear3d.io import read_cloud, read_pose
from tear3d.io.clouds import MODULES
from tear3d.io.text_pairs import read_columns

TITLE = "ETH"
EXPECTED = "SCENE/s1.ply, s2.ply, ... (or another format) and SCENE/s2-s1.pose, ...: 4×4 as text, maps s2 to s1"
VOXEL, KEYPOINTS = 0.1, "iss"
"""Metres, for own features; the paper matches ISS keypoints by FPFH."""
TRUTH = re.compile(r"([^-]+)-([^-]+)\.(?:pose|txt|tfm)")


class Scans(NamedTuple):
    """The files of a pair."""

    truth: Path
    source: Path | None
    target: Path | None
    matches: Path | None


def recognise(folder: Path) -> bool:
    return any(scans.source and scans.target for scene in _scenes(folder) for scans in _pairs(scene).values())


def _scenes(folder: Path) -> list[Path]:
    return [folder, *sorted(child for child in folder.iterdir() if child.is_dir())]


def _pairs(scene: Path) -> dict[tuple[str, str], Scans]:
    files = sorted(path for path in scene.iterdir() if path.is_file())
    found: dict[tuple[str, str], Scans] = {}
    for path in files:
        parts = TRUTH.fullmatch(path.name)
        if parts is not None:
            first, second = parts[1], parts[2]
            matches = next((f for f in files if f.suffix == ".match" and f.name.startswith(f"{first}_{second}")), None)
            scans = Scans(path, _scan(files, first), _scan(files, second), matches)
            if any(scans[1:]):
                found[first, second] = scans
    return found


def _scan(files: list[Path], name: str) -> Path | None:
    fitting = (f for f in files if f.suffix.lower() in MODULES and (f.stem == name or f.stem.startswith(f"{name}_")))
    return next((f for f in fitting if not TRUTH.fullmatch(f.name)), None)


def find(folder: Path, options: Options) -> list[Found]:
    found = []
    for scene in _scenes(folder):
        for (first, second), scans in _pairs(scene).items():
            _check(scans, (first, second), options)
            files = tuple(path for path in scans if path is not None)
            found.append(Found(f"{scene.resolve().name}@{first}_{second}", files, scene.resolve().name))
    return found


def _check(scans: Scans, names: tuple[str, str], options: Options) -> None:
    if scans.matches is not None and options.descriptors != "own":
        return
    for name, path in zip(names, (scans.source, scans.target), strict=True):
        if path is None:
            raise InputError(f"{scans.truth}: there is no scan {name}.ply, .pcd, ... beside it")


def load(folder: Path, name: str, options: Options) -> DataPair:
    scenes = {scene.resolve().name: scene for scene in _scenes(folder)}
    title, _, pair = name.rpartition("@")
    known = _pairs(scenes[title]) if title in scenes else {}
    names = next((key for key in known if "_".join(key) == pair), None)
    if names is None:
        raise InputError(f"{folder}: has no pair {name!r}: expected scene@first_second")
    scans = known[names]
    _check(scans, names, options)
    truth = read_pose(scans.truth)
    if scans.matches is not None and options.descriptors != "own":
        columns = read_columns(scans.matches)
        matched = columns[:, :3].copy(), columns[:, 3:].copy()
    else:
        assert scans.source is not None
        assert scans.target is not None
        matched = clouds_to_pairs(
            read_cloud(scans.source),
            read_cloud(scans.target),
            options.voxel or VOXEL,
            options.keypoints or KEYPOINTS,
            mutual=options.mutual,
            most=options.most,
        )
    return DataPair(name, *matched, truth, RULES[TITLE].noise_bound, TITLE)
