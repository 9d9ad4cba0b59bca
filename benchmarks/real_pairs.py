"""Real correspondences in a folder: their files, data sets, limits of success and undecidable pairs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Limits
from tear3d.errors import FileFormatError, InputError
from tear3d.metrics import LIMITS, rotation_error, translation_error

FloatArray = NDArray[np.float64]
DATA_SETS = {"3dmatch": "3DMatch", "kitti": "KITTI", "eth": "ETH", "stanford": "Stanford"}
"""How a file's name begins → the data set; everything else is "other"."""
OTHER_ROTATION, OTHER_TRANSLATION = 5.0, 3.0
"""Limits without a custom of the data set: degrees, and multiples of the noise bound."""


@dataclass(frozen=True)
class RealPair:
    """Matched points of two scans with their true transformation."""

    name: str
    source: FloatArray
    target: FloatArray
    truth: FloatArray
    """4×4, target ← source."""
    noise_bound: float

    @property
    def dataset(self) -> str:
        return next((title for prefix, title in DATA_SETS.items() if self.name.lower().startswith(prefix)), "other")

    @property
    def limits(self) -> Limits:
        """Errors below which the pose counts as right."""
        custom = LIMITS.get(self.dataset.lower())
        return Limits(*custom) if custom else Limits(OTHER_ROTATION, OTHER_TRANSLATION * self.noise_bound)

    @cached_property
    def inlier_mask(self) -> NDArray[np.bool_]:
        return self.within(self.truth)

    def right(self, pose: FloatArray) -> bool:
        """Whether the errors of a pose are within the limits."""
        return bool(
            rotation_error(pose, self.truth) <= self.limits.rotation
            and translation_error(pose, self.truth) <= self.limits.translation
        )

    def within(self, pose: FloatArray) -> NDArray[np.bool_]:
        """Pairs whose residual at a pose is within the noise bound."""
        residuals = self.target - self.source @ pose[:3, :3].T - pose[:3, 3]
        return np.linalg.norm(residuals, axis=1) <= self.noise_bound


def read(path: Path) -> RealPair:
    """An npz with src, dst (N×3), T_gt (4×4, maps src to dst) and xi."""
    try:
        with np.load(path) as data:
            source, target = (np.ascontiguousarray(data[key], dtype=np.float64) for key in ("src", "dst"))
            truth, xi = np.asarray(data["T_gt"], dtype=np.float64), float(data["xi"])
    except (OSError, ValueError, KeyError) as error:
        raise FileFormatError(f"{path}: expected an npz with src, dst, T_gt and xi ({error})") from error
    return RealPair(path.stem, source, target, truth, xi)


def files(folder: Path) -> list[Path]:
    """The npz files of a folder, or of its subfolder `pairs`."""
    inner = folder / "pairs"
    found = sorted((inner if inner.is_dir() else folder).glob("*.npz"))
    if not found:
        raise InputError(f"{folder} has no .npz files: pass a folder of pairs")
    return found


def default_folder() -> Path:
    """What TEAR3D_DATA names."""
    named = os.environ.get("TEAR3D_DATA")
    if not named:
        raise InputError("no folder of pairs: pass one, or set TEAR3D_DATA")
    return Path(named)


def undecidable(folder: Path, listed: Path | None) -> set[str]:
    """Names of pairs whose truth is not the largest consensus.

    From a JSON list of names if given, else from a table with a column `undecidable` in a README.md in or above
    the folder.
    """
    if listed is not None:
        try:
            names = json.loads(listed.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FileFormatError(f"{listed}: expected a JSON list of names ({error})") from error
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FileFormatError(f"{listed}: expected a JSON list of names")
        return set(names)
    for readme in (folder / "README.md", folder.parent / "README.md"):
        if readme.is_file():
            return set(_marked(readme.read_text(encoding="utf-8")))
    return set()


def _marked(text: str) -> Iterator[str]:
    """First cells of the rows that say yes in the column `undecidable` of a Markdown table."""
    column = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif "undecidable" in cells:
            column = cells.index("undecidable")
        elif column is not None and len(cells) > column and cells[column] == "yes":
            yield cells[0]
