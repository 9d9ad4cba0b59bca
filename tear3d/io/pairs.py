"""Files of point pairs: .npz, .npy (N×6, memory-mapped), .csv and .txt (six columns)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import FileFormatError, InputError
from tear3d.io.arrays import Archive, memory_of, npy_header
from tear3d.io.atomic import atomic_write
from tear3d.io.checks import check_memory, format_errors, memory_limit
from tear3d.io.npy_header import ArrayHeader
from tear3d.io.text_pairs import COLUMNS, read_columns

FloatArray = NDArray[np.float64]

SUFFIXES = (".npz", ".npy", ".csv", ".txt")
_NAMES = {
    "source": ("source", "src"),
    "target": ("target", "dst"),
    "noise_bound": ("noise_bound", "xi"),
    "weights": ("weights",),
}
_HEADER = [f"{side}_{axis}" for side in ("source", "target") for axis in "xyz"]
_BLOCK = 1 << 16


class Pairs(NamedTuple):
    """What a pairs file holds."""

    source: FloatArray
    target: FloatArray
    noise_bound: float | FloatArray | None = None
    weights: FloatArray | None = None


def read_pairs(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Pairs:
    """Read point pairs; the format is told by the suffix.

    Parameters
    ----------
    path : str or path
        - ``.npz``: arrays ``source`` and ``target`` (or ``src`` and ``dst``) of shape N×3, or N×2 for pairs in the
          plane, optionally ``noise_bound`` (or ``xi``; a number or one per pair) and ``weights`` (one per pair).
        - ``.npy``: one N×6 array, memory-mapped: source and target are views of the file.
        - ``.csv``, ``.txt``: six columns (or four: pairs in the plane) separated by commas or white space; a header
          line and ``#`` comments are skipped.
    max_bytes : int, optional
        How much memory the arrays of a ``.npz`` file may take; one that declares more is refused before
        anything is allocated. By default 256 MiB, or 100 times the file's size if that is more, which only
        an extremely well compressed file exceeds.

    Returns
    -------
    Pairs
        ``(source, target, noise_bound, weights)``; the last two are None when the file has none.

    Raises
    ------
    FileFormatError
        The message names the file, the array or line, and what is expected.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"{path}: unknown suffix {path.suffix!r}: expected .npz, .npy, .csv or .txt")
    if not path.exists():
        raise FileFormatError(f"{path}: no such file")
    if not path.is_file():
        raise FileFormatError(f"{path}: cannot be read: not a regular file")
    limit = memory_limit(path, max_bytes)
    try:
        path.open("rb").close()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    with format_errors(path, suffix), np.errstate(all="ignore"):
        if suffix == ".npz":
            return _read_npz(path, limit)
        pairs = _map_npy(path) if suffix == ".npy" else read_columns(path)
        half = pairs.shape[1] // 2
        return Pairs(pairs[:, :half], pairs[:, half:])


def write_pairs(
    path: str | os.PathLike[str],
    source: ArrayLike,
    target: ArrayLike,
    *,
    noise_bound: float | ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **extra: ArrayLike,
) -> None:
    """Write point pairs in full precision; the format is told by the suffix, as in `read_pairs`.

    Parameters
    ----------
    path : str or path
        Ends in ``.npz``, ``.npy``, ``.csv`` or ``.txt``. The file appears only when it is complete.
    source, target : (N, 3) array
    noise_bound, weights, **extra
        Further arrays, for ``.npz`` only.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: unknown suffix {path.suffix!r}: expected .npz, .npy, .csv or .txt")
    x, y = np.asarray(source, dtype=float), np.asarray(target, dtype=float)
    for name, points in (("source", x), ("target", y)):
        if points.ndim != 2 or points.shape[1] != 3:
            raise InputError(f"{name} has shape {points.shape}: pass points as rows (N×3)")
    if len(x) != len(y):
        raise InputError(f"source has {len(x)} points and target {len(y)}: pass one target per source")
    optional = {"noise_bound": noise_bound, "weights": weights} | extra
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in optional.items() if value is not None}
    if arrays and suffix != ".npz":
        raise InputError(f"{path}: a {suffix} file holds only the pairs, not {', '.join(arrays)}: use .npz")
    with atomic_write(path) as file:
        if suffix == ".npz":
            np.savez(file, source=x, target=y, **arrays)
        elif suffix == ".npy":
            header = {"descr": "<f8", "fortran_order": False, "shape": (len(x), 6)}
            npy_format.write_array_header_1_0(file, header)
            for rows in _blocks(x, y):
                file.write(rows.astype("<f8", copy=False).tobytes())
        else:
            delimiter = "," if suffix == ".csv" else " "
            file.write((delimiter.join(_HEADER) + "\n").encode())
            for rows in _blocks(x, y):
                np.savetxt(file, rows, fmt="%.17g", delimiter=delimiter)


def _read_npz(path: Path, limit: int) -> Pairs:
    with Archive(path, limit) as archive:
        chosen = {key: name for key, names in _NAMES.items() for name in reversed(names) if name in archive.names}
        headers = {key: archive.header(name) for key, name in chosen.items()}
        _check(path, headers, ", ".join(archive.names)[:100] or "nothing")
        check_memory(path, "its arrays", sum(map(memory_of, headers.values())), limit)
        arrays = {key: archive.read(name) for key, name in chosen.items()}
    noise_bound = arrays.get("noise_bound")
    bound = float(noise_bound.reshape(())) if noise_bound is not None and noise_bound.size == 1 else noise_bound
    return Pairs(arrays["source"], arrays["target"], bound, arrays.get("weights"))


def _check(path: Path, headers: dict[str, ArrayHeader], present: str) -> None:
    """Refuse arrays that do not belong together before they are read."""
    for key in ("source", "target"):
        if key not in headers:
            raise FileFormatError(f"{path}: holds {present}: expected N×3 arrays source and target")
        if len(headers[key].shape) != 2 or headers[key].shape[1] not in (2, 3):
            raise FileFormatError(f"{path}: {key} has shape {headers[key].shape}: expected points as rows (N×3)")
    if headers["source"].shape[1] != headers["target"].shape[1]:
        raise FileFormatError(f"{path}: one of source and target is N×2, the other N×3: expected both alike")
    for key, header in headers.items():
        if not header.is_real:
            raise FileFormatError(f"{path}: {key} has type {header.dtype}: expected real numbers")
    count, others = headers["source"].shape[0], headers["target"].shape[0]
    if count != others:
        raise FileFormatError(f"{path}: source has {count} points and target {others}: expected equally many")
    if "noise_bound" in headers and prod(headers["noise_bound"].shape) != 1:
        _check_per_pair(path, "noise_bound", headers["noise_bound"], f"a number or one per pair ({count},)", count)
    if "weights" in headers:
        _check_per_pair(path, "weights", headers["weights"], f"one per pair ({count},)", count)


def _check_per_pair(path: Path, key: str, header: ArrayHeader, expected: str, count: int) -> None:
    if header.shape != (count,):
        raise FileFormatError(f"{path}: {key} has shape {header.shape}: expected {expected}")


def _map_npy(path: Path) -> NDArray[Any]:
    header = npy_header(path)
    if len(header.shape) != 2 or header.shape[1] != 6:
        raise FileFormatError(f"{path}: the array has shape {header.shape}: expected N×6, {COLUMNS}")
    if not header.is_real:
        raise FileFormatError(f"{path}: the array has type {header.dtype}: expected real numbers")
    if header.nbytes == 0:
        raise FileFormatError(f"{path}: no pairs in it: expected N×6, {COLUMNS}")
    order: Literal["F", "C"] = "F" if header.columns_first else "C"
    pairs = np.memmap(path, header.dtype, "r", header.offset, header.shape, order)
    return pairs if pairs.flags.aligned else np.array(pairs)


def _blocks(source: FloatArray, target: FloatArray) -> Iterator[FloatArray]:
    """The pairs as N×6 in bounded pieces."""
    for start in range(0, len(source), _BLOCK):
        block = slice(start, start + _BLOCK)
        yield np.hstack([source[block], target[block]])
