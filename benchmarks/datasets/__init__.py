"""Data sets of matched scans in the layouts in which they are distributed (README.md beside this file).

`open_folder` finds what a folder holds; its entries are cheap and load anywhere from (folder, layout, name)::

    data = open_folder("3DMatch")          # guessed, or open_folder("3DMatch", "3dlomatch")
    print(data.rule)                       # what "right" means: print it beside every recall
    for entry in data.entries:
        pair = entry.load()                # pair.source, .target, .truth (target ← source), .noise_bound, .limits

A layout is a module of this folder with ``TITLE``; ``EXPECTED``, what a folder must hold; ``recognise(folder)``;
``find(folder, options)`` → its pairs, not loaded; ``load(folder, name, options)`` → one of them.
"""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import real_pairs
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair
from benchmarks.datasets.rules import MIXED_SENTENCE, RULES
from tear3d.errors import InputError

LAYOUTS = {
    "pairs": "pairs",
    "3dmatch": "threedmatch",
    "3dlomatch": "threedlomatch",
    "kitti": "kitti",
    "eth": "eth",
    "eth-tls": "eth_tls",
}
"""Names of the layouts → their files in this folder."""
__all__ = ["LAYOUTS", "DataPair", "DataSet", "Entry", "Options", "load", "module_of", "open_folder"]


@dataclass(frozen=True)
class Entry:
    """A pair that is not loaded yet: plain values only."""

    folder: str
    layout: str
    name: str
    index: int
    files: tuple[str, ...]
    """What it is made of."""
    group: str
    """Scene or sequence."""
    options: Options

    def load(self) -> DataPair:
        return load(self.folder, self.layout, self.name, self.options)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"files": list(self.files), "options": self.options.to_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Entry:
        own = {"files": tuple(values["files"]), "options": Options.from_dict(values["options"])}
        return cls(**values | own)


@dataclass(frozen=True)
class DataSet:
    """What was found in a folder."""

    folder: Path
    layout: str
    title: str
    entries: tuple[Entry, ...]

    @property
    def rule(self) -> str:
        """When a pose is right."""
        return RULES[self.title].sentence if self.title in RULES else MIXED_SENTENCE

    @property
    def noise_bound(self) -> float | None:
        """ξ; None where every pair has its own."""
        return RULES[self.title].noise_bound if self.title in RULES else None

    @property
    def groups(self) -> Counter[str]:
        """How many pairs each scene or sequence has."""
        return Counter(entry.group for entry in self.entries)

    def undecidable(self, listed: Path | None = None) -> set[str]:
        """Names of pairs whose truth is not the largest consensus, as far as it is known (benchmarks/real_pairs.py)."""
        return real_pairs.undecidable(self.folder, listed)


def module_of(layout: str) -> ModuleType:
    """The module that reads a layout."""
    if layout not in LAYOUTS:
        raise InputError(f"layout is {layout!r}: expected one of {', '.join(LAYOUTS)}")
    return importlib.import_module(f"{__name__}.{LAYOUTS[layout]}")


def open_folder(path: Path | str, layout: str | None = None, options: Options | None = None) -> DataSet:
    """Find the pairs of a folder.

    Parameters
    ----------
    path
        The folder.
    layout
        One of `LAYOUTS`; by default the one that the folder has.
    options
        How to make the pairs; by default as the paper does.

    Raises
    ------
    InputError
        There is no such folder, its layout is not known or not unique, or files are missing.
    FileFormatError
        A file is not what its name says.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: {'is not a folder' if folder.exists() else 'no such folder'}")
    options = options or Options()
    layout = layout or _guess(folder)
    module = module_of(layout)
    found = module.find(folder, options)
    if not found:
        raise InputError(f"{folder}: no pairs of layout {layout}: expected {module.EXPECTED}")
    entries = tuple(
        Entry(str(folder), layout, one.name, index, tuple(str(file) for file in one.files), one.group, options)
        for index, one in enumerate(found)
    )
    return DataSet(folder, layout, module.TITLE, entries)


def load(folder: Path | str, layout: str, name: str, options: Options | None = None) -> DataPair:
    """One pair, without looking for the others."""
    return module_of(layout).load(Path(folder), name, options or Options())


def _guess(folder: Path) -> str:
    fitting = [layout for layout in LAYOUTS if module_of(layout).recognise(folder)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InputError(f"{folder}: could be {' or '.join(fitting)}: name the layout")
    lines = "".join(f"\n  {layout}: {module_of(layout).EXPECTED}" for layout in LAYOUTS)
    raise InputError(f"{folder}: holds no data set of a known layout; expected one of{lines}")
