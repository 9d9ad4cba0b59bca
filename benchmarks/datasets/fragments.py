"""Scenes of numbered fragments with a gt.log: what 3DMatch, 3DLoMatch and 3DSmoothNet's ETH have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.datasets.described import read_described
from benchmarks.datasets.matching import Described, describe, match_described
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found
from benchmarks.datasets.rules import RULES
from benchmarks.datasets.trajectory import read_info, read_log
from tear3d.errors import FileFormatError, InputError
from tear3d.io import read_cloud

CLOUDS = (".ply", ".pcd", ".xyz", ".csv")
ARRAYS = (".npz", ".npy", ".bin", ".txt", ".csv")
INSIDE = ("PointCloud", "01_Keypoints", "Keypoints", "keypoints", "02_Features", "Features", "features", "descriptors")
"""Subfolders of a scene that evaluations use."""
BESIDE = ("intermediate-files-real", "keypoints", "descriptors")
"""Folders that hold one folder for each scene."""
OWN = "own"


@dataclass(frozen=True)
class Custom:
    """What a data set adds to the common layout."""

    title: str
    prefixes: tuple[str, ...]
    """Fragment k is called prefix + k."""
    logs: tuple[str, ...]
    """Where gt.log may be; {scene} is the scene's folder, {name} its name, {root} the folder of the data set."""
    voxel: float
    keypoints: str


@dataclass(frozen=True)
class Scene:
    """A scene's folder and the log of its true poses."""

    root: Path
    folder: Path
    prefix: str

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def log(self, custom: Custom) -> Path | None:
        return next((path for path in self.logs(custom) if path.is_file()), None)

    def logs(self, custom: Custom) -> list[Path]:
        values = {"scene": self.folder, "name": self.name, "root": self.root, "above": self.folder.parent}
        return [Path(pattern.format(**values)) for pattern in custom.logs]

    def need_log(self, custom: Custom) -> Path:
        found = self.log(custom)
        if found is None:
            places = ", ".join(str(path) for path in self.logs(custom))
            raise InputError(f"{self.folder}: has fragments but no true poses: expected one of {places}")
        return found


def scenes(root: Path, custom: Custom) -> list[Scene]:
    """The folders with fragments: the folder itself, those in it, and those in its `fragments`."""
    above = [root / "fragments", root / "3DMatch" / "fragments", root]
    inner = [child for top in above if top.is_dir() for child in sorted(top.iterdir()) if child.is_dir()]
    candidates = [root, *(f for f in inner if f.name not in INSIDE and not f.name.endswith("-evaluation"))]
    return [Scene(root, folder, prefix) for folder in candidates for prefix in _prefix(folder, custom.prefixes)]


def _prefix(folder: Path, prefixes: tuple[str, ...]) -> list[str]:
    names = [path.name for place in (folder, *(folder / name for name in INSIDE)) for path in _files(place)]
    return [prefix for prefix in prefixes if any(re.match(rf"{prefix}\d", name) for name in names)][:1]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


@dataclass(frozen=True)
class Fragment:
    """The files of a fragment."""

    cloud: Path | None
    keypoints: Path | None
    descriptors: Path | None

    @property
    def files(self) -> Iterator[Path]:
        return (path for path in (self.cloud, self.keypoints, self.descriptors) if path is not None)


def fragment(scene: Scene, number: int, options: Options) -> Fragment:
    """Find the cloud, the keypoints and the descriptors of a fragment."""
    stem = f"{scene.prefix}{number}"
    above = {scene.root, scene.folder.parent, scene.folder.parent.parent}
    places = {scene.folder: "", **{scene.folder / name: name for name in INSIDE}}
    places |= {top / name / scene.name: name for top in sorted(above) for name in BESIDE}
    mine = [path for place in places for path in _files(place) if re.match(rf"{re.escape(stem)}(?!\d)", path.name)]
    kinds = {path: _kind(path, stem, places[path.parent]) for path in mine}
    clouds, keypoints, described = (
        [path for path in mine if kinds[path] == kind] for kind in ("cloud", "keypoints", "descriptors")
    )
    if options.descriptors == OWN:
        described = []
    elif options.descriptors is not None:
        described = [path for path in described if options.descriptors in path.name[len(stem) :]]
        if not described:
            raise InputError(f"{scene.folder}: {stem} has no descriptors with {options.descriptors!r} in their name")
    if len(described) > 1:
        names = ", ".join(path.name for path in described)
        raise InputError(f"{scene.folder}: {stem} has several descriptors: {names}: choose by a part of the name")
    if not described and not clouds:
        raise InputError(
            f"{scene.folder}: the true poses name fragment {number}, but there is neither {stem}.ply nor a "
            f"descriptor file {stem}*.npz, .npy or .bin"
        )
    descriptors = next(iter(described), None)
    return Fragment(next(iter(clouds), None), next(iter(keypoints), None) if descriptors else None, descriptors)


def _kind(path: Path, stem: str, place: str) -> str:
    """Cloud, keypoints, descriptors or nothing of interest, from a name and the kind of folder it is in."""
    if path.suffix in ARRAYS and "keyp" in (path.name[len(stem) :] + place).lower():
        return "keypoints"
    if place in ("", "PointCloud"):
        if path.stem == stem and path.suffix in CLOUDS:
            return "cloud"
        # Beside the clouds lie other things too: poses as .info.txt, distance fields as .tdf.bin.
        stored = path.suffix in (".npz", ".npy") or ".desc." in path.name or path.name.endswith("_CNN.txt")
        return "descriptors" if stored else ""
    return "descriptors" if path.suffix in ARRAYS and ".tdf" not in path.name else ""


def find(root: Path, custom: Custom, options: Options) -> list[Found]:
    """The pairs of all scenes, in the order of their logs."""
    found = []
    for scene in scenes(root, custom):
        log = scene.need_log(custom)
        pairs = read_log(log)
        known = {number: fragment(scene, number, options) for number in sorted({k for pair in pairs for k in pair})}
        for i, j in pairs:
            files = (log, *known[j].files, *known[i].files)
            found.append(Found(f"{scene.name}@{i}_{j}", files, scene.name))
    return found


def load(root: Path, name: str, custom: Custom, options: Options) -> DataPair:
    """The pair `scene@i_j`: fragment j is the source, i the target."""
    parts = re.fullmatch(r"(.+)@(\d+)_(\d+)", name)
    scene = next((s for s in scenes(root, custom) if parts and s.name == parts[1]), None)
    if parts is None or scene is None:
        raise InputError(f"{root}: has no pair {name!r}: expected scene@i_j")
    i, j = int(parts[2]), int(parts[3])
    log = scene.need_log(custom)
    poses = read_log(log)
    if (i, j) not in poses:
        raise InputError(f"{log}: has no pair {i} {j}")
    source, target = _matched(scene, (j, i), custom, options)
    info = None
    if (log.parent / "gt.info").is_file() and log.name == "gt.log" and j - i > 1:
        info = read_info(log.parent / "gt.info").get((i, j))
        # Some evaluations fill gt.info with zeros.
        info = info if info is not None and info[0, 0] > 0.0 else None
    return DataPair(name, source, target, poses[i, j], RULES[custom.title].noise_bound, custom.title, info)


def _matched(scene: Scene, numbers: tuple[int, int], custom: Custom, options: Options) -> tuple[np.ndarray, np.ndarray]:
    files = [fragment(scene, number, options) for number in numbers]
    if len({f.descriptors is None for f in files}) == 2:
        lone = next(f.descriptors for f in files if f.descriptors)
        raise InputError(f"{lone}: the other fragment of the pair {numbers[1]} {numbers[0]} has no descriptors")
    source, target = (_described(f, custom, options).sample(options.most) for f in files)
    if source.descriptors.shape[1] != target.descriptors.shape[1]:
        raise FileFormatError(
            f"{files[0].descriptors}: descriptors of length {source.descriptors.shape[1]}, but "
            f"{files[1].descriptors} has length {target.descriptors.shape[1]}"
        )
    return match_described(source, target, mutual=options.mutual)


def _described(files: Fragment, custom: Custom, options: Options) -> Described:
    if files.descriptors is not None:
        return read_described(files.descriptors, files.keypoints, files.cloud)
    assert files.cloud is not None
    return describe(read_cloud(files.cloud), options.voxel or custom.voxel, options.keypoints or custom.keypoints)
