"""The plain layout: a folder of npz files with src, dst, T_gt and xi, one for each pair (benchmarks/real_pairs.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks import real_pairs
from benchmarks.datasets.options import Options
from benchmarks.datasets.pair import DataPair, Found
from tear3d.errors import FileFormatError, InputError

TITLE = "pairs"
EXPECTED = "NAME.npz with src, dst (N×3), T_gt (4×4, maps src to dst) and xi, in the folder or in its subfolder pairs"


def recognise(folder: Path) -> bool:
    return any(folder.glob("*.npz")) or any((folder / "pairs").glob("*.npz"))


def find(folder: Path, options: Options) -> list[Found]:
    return [Found(path.stem, (path,), _group(path.stem)) for path in real_pairs.files(folder)]


def _group(name: str) -> str:
    lower = name.lower()
    return next((title for start, title in real_pairs.DATA_SETS.items() if lower.startswith(start)), "other")


def load(folder: Path, name: str, options: Options) -> DataPair:
    path = next((p for p in (folder / "pairs" / f"{name}.npz", folder / f"{name}.npz") if p.is_file()), None)
    if path is None:
        raise InputError(f"{folder}: has no pair {name}.npz")
    plain = real_pairs.read(path)
    if plain.truth.shape != (4, 4) or not plain.noise_bound > 0.0:
        raise FileFormatError(
            f"{path}: T_gt of shape {plain.truth.shape} and xi {plain.noise_bound}: expected 4×4, > 0"
        )
    with np.load(path) as data:
        title = str(data["dataset"]) if "dataset" in data else plain.dataset
        info = np.asarray(data["info"], dtype=np.float64) if "info" in data else None
    return DataPair(plain.name, plain.source, plain.target, plain.truth, plain.noise_bound, title, info)


def write(pair: DataPair, path: Path) -> None:
    """Write a pair of any data set in this layout; it keeps the data set's rule."""
    more = {} if pair.info is None else {"info": pair.info}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        path,
        src=pair.source,
        dst=pair.target,
        T_gt=pair.truth,
        xi=pair.noise_bound,
        dataset=np.array(pair.title),
        **more,
    )
