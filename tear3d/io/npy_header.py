"""The header of a NumPy array: parsed without NumPy's tokenizer, and believed only as far as it can be true."""

from __future__ import annotations

import ast
import re
import struct
import warnings
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared

MAGIC = b"\x93NUMPY"
LENGTHS = {1: "<H", 2: "<I", 3: "<I"}
"""How the versions of the format write the length of their header."""
MAX_HEADER = 10_000
MAX_AXES = 32
KEYS = {"descr", "fortran_order", "shape"}


@dataclass(frozen=True)
class ArrayHeader:
    """What an array says of itself."""

    shape: tuple[int, ...]
    columns_first: bool
    dtype: np.dtype[Any]
    offset: int
    """Where the data starts."""

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_real(self) -> bool:
        return self.dtype.kind in "fiu"


def read_header(path: Path, handle: IO[bytes], name: str, size: int) -> ArrayHeader:
    """Parse the header of an array of `size` bytes, header included; its numbers must fit in the rest."""
    start = handle.read(8)
    if not start.startswith(MAGIC) or len(start) < 8:
        raise FileFormatError(f"{path}: {name} does not start like an NPY file; damaged or truncated")
    layout = LENGTHS.get(start[6])
    if layout is None or start[7] != 0:
        raise FileFormatError(f"{path}: {name} is of NPY version {start[6]}.{start[7]}; expected 1.0, 2.0 or 3.0")
    width = struct.calcsize(layout)
    raw = handle.read(width)
    check_declared(path, f"the header of {name}", width, len(raw))
    (length,) = struct.unpack(layout, raw)
    if length > MAX_HEADER:
        raise FileFormatError(f"{path}: the header of {name} has {length} bytes; expected at most {MAX_HEADER}")
    text = handle.read(length)
    check_declared(path, f"the header of {name}", length, len(text))
    shape, columns_first, dtype = _parse(path, name, text.decode("utf-8" if start[6] == 3 else "latin-1", "replace"))
    header = ArrayHeader(shape, columns_first, dtype, 8 + width + length)
    if not dtype.hasobject:
        check_declared(path, f"{name} of shape {shape} and type {dtype}", header.nbytes, size - header.offset)
    return header


def _parse(path: Path, name: str, text: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Python 2 wrote the lengths of some arrays as 100L.
            entries = ast.literal_eval(re.sub(r"(?<=\d)L(?=[,)])", "", text.strip(" \n\0")))
            if not isinstance(entries, dict) or set(entries) != KEYS:
                raise ValueError("not the three entries descr, fortran_order, shape")
            dtype = npy_format.descr_to_dtype(entries["descr"])
    except Exception as error:
        raise FileFormatError(f"{path}: the header of {name} is damaged ({type(error).__name__})") from error
    shape, columns_first = entries["shape"], entries["fortran_order"]
    if not isinstance(shape, tuple) or len(shape) > MAX_AXES or not all(type(n) is int and n >= 0 for n in shape):
        raise FileFormatError(f"{path}: {name} has the shape {str(shape)[:60]}")
    if type(columns_first) is not bool:
        raise FileFormatError(f"{path}: the header of {name} is damaged (fortran_order)")
    return shape, columns_first, dtype
