"""The scans of a map: read one at a time, thinned once, and kept on disk for those who compare them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.voxel import check_voxel_size, choose_voxel_size, voxel_downsample
from tear3d.io.clouds import read_cloud
from tear3d.io.folders import clouds_in
from tear3d.io.ply_colours import read_colours
from tear3d.problem.arrays import FloatArray, as_points, finite_rows, spread_rows

SAMPLED = 5
"""Scans that the voxel size is chosen from, spread over the survey: free choice."""
FINER = 0.25
"""Voxels to which the scans are thinned for the registrations, in theirs, which use half a voxel at the finest."""
SKETCHED = 2000
"""Points of a scan at most by which overlaps are foreseen: free choice."""


def scans_of(folder: str | os.PathLike[str]) -> list[Path]:
    """The clouds of a folder by name; numbers count as numbers, so that scan10 follows scan9."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(
            f"{folder}: {'is not a folder' if path.exists() else 'no such folder'}; pass a folder of scans"
        )
    return sorted((each for each in clouds_in(path) if each.is_file()), key=_natural)


def _natural(path: Path) -> list[tuple[int, int, str]]:
    words: list[tuple[int, int, str]] = []
    text = ""
    for letter in path.name + "\0":
        if text and letter.isdecimal() != text[-1].isdecimal():
            words.append((0, int(text), text) if text.isdecimal() else (1, 0, text))
            text = ""
        text += letter
    return words


@dataclass(frozen=True, eq=False)
class Given:
    """Scans as they were given: names of files, or arrays."""

    scans: tuple[Any, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, scans: Any) -> Given:
        if isinstance(scans, (str, os.PathLike)):
            scans = scans_of(scans)
        if not isinstance(scans, Sequence) and not hasattr(scans, "__iter__"):
            raise InputError(
                f"scans is of type {type(scans).__name__}: expected a folder, or a list of files or arrays"
            )
        every = tuple(Path(each) if isinstance(each, (str, os.PathLike)) else each for each in scans)
        if len(every) < 2:
            raise InputError(f"scans: {len(every)} given, a map needs at least two")
        names = tuple(each.name if isinstance(each, Path) else f"scan {k}" for k, each in enumerate(every))
        return cls(every, names)

    def __len__(self) -> int:
        return len(self.scans)

    def read(self, number: int) -> FloatArray:
        """The finite points of a scan."""
        scan = self.scans[number]
        if isinstance(scan, Path):
            return read_cloud(scan)
        points = as_points(scan, f"scans[{number}]", finite=False)
        points = points[finite_rows(points)]
        if len(points) == 0:
            raise InputError(f"scans[{number}] has no finite points")
        return points

    def read_coloured(self, number: int) -> tuple[FloatArray, NDArray[np.uint8] | None]:
        """The finite points of a scan and their colours, if its file has them."""
        scan = self.scans[number]
        colours = read_colours(scan) if isinstance(scan, Path) else None
        if colours is None:
            return self.read(number), None
        points = read_cloud(scan, keep_invalid=True)
        finite = finite_rows(points)
        return points[finite], colours[finite]


@dataclass(eq=False)
class Scans:
    """Thinned copies in a folder of their own, which goes when the block ends."""

    given: Given
    voxel_size: float
    folder: Path
    centres: FloatArray = field(init=False)
    radii: FloatArray = field(init=False)
    counts: list[int] = field(init=False)
    _stack: ExitStack = field(default_factory=ExitStack, init=False)

    @classmethod
    def of(cls, given: Given, voxel_size: float | None, tick: Any) -> Scans:
        if voxel_size is None:
            some = sorted({round(k) for k in np.linspace(0, len(given) - 1, min(SAMPLED, len(given)))})
            voxel_size = float(np.median([_size_for(given, number) for number in some]))
        check_voxel_size(voxel_size)
        stack = ExitStack()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tear3d-map-")))
        scans = cls(given, voxel_size, folder)
        scans._stack = stack
        try:
            scans._thin(tick)
        except BaseException:
            stack.close()
            raise
        return scans

    def __enter__(self) -> Scans:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()

    def __len__(self) -> int:
        return len(self.given)

    def path(self, number: int) -> Path:
        """Of the thinned scan."""
        return self.folder / f"{number}.npy"

    def sketch(self, number: int) -> FloatArray:
        """Some points, one to a voxel at most, by which overlaps are foreseen."""
        return np.asarray(np.load(self.folder / f"{number}.sketch.npy"))

    def _thin(self, tick: Any) -> None:
        centres, radii, counts = [], [], []
        for number in range(len(self.given)):
            tick(number)
            points = self.given.read(number)
            counts.append(len(points))
            thinned = voxel_downsample(points, FINER * self.voxel_size)
            np.save(self.path(number), thinned)
            coarse = voxel_downsample(thinned, self.voxel_size)
            centres.append(coarse.mean(axis=0))
            radii.append(float(np.sqrt(np.mean(np.sum((coarse - centres[-1]) ** 2, axis=1)))))
            if radii[-1] == 0.0:
                size = f"voxel_size is {self.voxel_size:g}, pass a smaller one"
                raise InputError(f"{self.given.names[number]}: lies within one voxel; {size}")
            np.save(self.folder / f"{number}.sketch.npy", coarse[spread_rows(len(coarse), SKETCHED)])
        self.centres, self.radii, self.counts = np.array(centres), np.array(radii), counts


def _size_for(given: Given, number: int) -> float:
    points = given.read(number)
    try:
        return choose_voxel_size(points, points)
    except InputError as error:
        raise InputError(f"{given.names[number]}: {str(error).removeprefix('source and target: ')}") from error
