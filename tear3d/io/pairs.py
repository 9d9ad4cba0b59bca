"""Files of point pairs: .npz, .npy (N×6, memory-mapped), .csv and .txt (six columns)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import FileFormatError, InputError
from tear3d.io.atomic import atomic_write

FloatArray = NDArray[np.float64]

_COLUMNS = "six columns: source x y z, target x y z"
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


def read_pairs(path: str | os.PathLike[str]) -> Pairs:
    """Read point pairs; the format is told by the suffix.

    Parameters
    ----------
    path : str or path
        - ``.npz``: arrays ``source`` and ``target`` (or ``src`` and ``dst``) of shape N×3, optionally
          ``noise_bound`` (or ``xi``; a number or one per pair) and ``weights`` (one per pair).
        - ``.npy``: one N×6 array, memory-mapped: source and target are views of the file.
        - ``.csv``, ``.txt``: six columns separated by commas or white space; a header line and ``#`` comments
          are skipped.

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
    readers = {".npz": _read_npz, ".npy": _read_npy, ".csv": _read_text, ".txt": _read_text}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FileFormatError(f"{path}: unknown suffix {path.suffix!r}: expected .npz, .npy, .csv or .txt")
    try:
        return reader(path)
    except FileNotFoundError:
        raise FileFormatError(f"{path}: no such file") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from error


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
    if suffix not in (".npz", ".npy", ".csv", ".txt"):
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


def _read_npz(path: Path) -> Pairs:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[name] for key, names in _NAMES.items() for name in reversed(names) if name in file}
            present = ", ".join(file.files) or "nothing"
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError, TypeError) as error:
        raise FileFormatError(f"{path}: not a readable .npz file: {_first_line(error)}") from error
    for key in ("source", "target"):
        if key not in arrays:
            raise FileFormatError(f"{path}: holds {present}: expected N×3 arrays source and target")
        if arrays[key].ndim != 2 or arrays[key].shape[1] != 3:
            raise FileFormatError(f"{path}: {key} has shape {arrays[key].shape}: expected points as rows (N×3)")
    for key, values in arrays.items():
        _check_real(path, key, values)
    count = len(arrays["source"])
    if len(arrays["target"]) != count:
        raise FileFormatError(
            f"{path}: source has {count} points and target {len(arrays['target'])}: expected equally many"
        )
    noise_bound, weights = arrays.get("noise_bound"), arrays.get("weights")
    if noise_bound is not None and noise_bound.size == 1:
        noise_bound = float(noise_bound.reshape(()))
    elif noise_bound is not None and noise_bound.shape != (count,):
        raise FileFormatError(
            f"{path}: noise_bound has shape {noise_bound.shape}: expected a number or one per pair ({count},)"
        )
    if weights is not None and weights.shape != (count,):
        raise FileFormatError(f"{path}: weights has shape {weights.shape}: expected one per pair ({count},)")
    return Pairs(arrays["source"], arrays["target"], noise_bound, weights)


def _read_npy(path: Path) -> Pairs:
    try:
        pairs = npy_format.open_memmap(path, mode="r")
    except ValueError as error:
        raise FileFormatError(f"{path}: not a readable .npy file: {_first_line(error)}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 6:
        raise FileFormatError(f"{path}: the array has shape {pairs.shape}: expected N×6, {_COLUMNS}")
    _check_real(path, "the array", pairs)
    return Pairs(pairs[:, :3], pairs[:, 3:])


def _read_text(path: Path) -> Pairs:
    try:
        number, line = _first_data_line(path)
        delimiter = "," if "," in line else None
        with open(path, encoding="utf-8-sig") as file:
            pairs = np.loadtxt(file, delimiter=delimiter, comments="#", skiprows=number - 1, ndmin=2)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: not a text file: expected {_COLUMNS}") from error
    except ValueError as error:
        if isinstance(error, FileFormatError):
            raise
        raise _first_bad_line(path, number, delimiter, error) from error
    if pairs.shape[1] != 6:
        raise FileFormatError(f"{path}, line {number}: {pairs.shape[1]} columns: expected {_COLUMNS}")
    return Pairs(pairs[:, :3], pairs[:, 3:])


def _first_data_line(path: Path) -> tuple[int, str]:
    """Number and text of the first line with numbers; one line of words before it is a header."""
    header_seen = False
    with open(path, encoding="utf-8-sig") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.partition("#")[0].strip()
            if not line:
                continue
            if header_seen or any(_is_number(cell) for cell in line.replace(",", " ").split()):
                return number, line
            header_seen = True
    raise FileFormatError(f"{path}: no pairs in it: expected {_COLUMNS}")


def _first_bad_line(path: Path, start: int, delimiter: str | None, error: ValueError) -> FileFormatError:
    with open(path, encoding="utf-8-sig") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.partition("#")[0].strip()
            if number < start or not line:
                continue
            cells = line.split(delimiter)
            if len(cells) != 6:
                return FileFormatError(f"{path}, line {number}: {len(cells)} columns: expected {_COLUMNS}")
            for cell in cells:
                if not _is_number(cell):
                    return FileFormatError(f"{path}, line {number}: {cell.strip()!r} is not a number")
    return FileFormatError(f"{path}: {_first_line(error)}: expected {_COLUMNS}")


def _blocks(source: FloatArray, target: FloatArray) -> Iterator[FloatArray]:
    """The pairs as N×6 in bounded pieces."""
    for start in range(0, len(source), _BLOCK):
        block = slice(start, start + _BLOCK)
        yield np.hstack([source[block], target[block]])


def _check_real(path: Path, name: str, values: NDArray) -> None:
    if values.dtype.kind not in "fiu":
        raise FileFormatError(f"{path}: {name} has type {values.dtype}: expected real numbers")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
