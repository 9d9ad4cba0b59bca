"""The one reader of NumPy's files: checked before anything is allocated, read in pieces, never unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, check_memory
from tear3d.io.npy_header import ArrayHeader, read_header

SUFFIX = ".npy"
MAX_DEFLATE_RATIO = 1032
PIECE = 1 << 20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1


class Archive:
    """The arrays of an NPZ file, as a context manager.

    Parameters
    ----------
    path
        The file.
    limit
        How many bytes of memory an array may take, as stored and as float64.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._zip = zipfile.ZipFile(path)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            name = info.filename.removesuffix(SUFFIX)
            if name in self._members:
                self._zip.close()
                raise FileFormatError(f"{path}: holds two arrays of the name {name[:60]}")
            if name != info.filename:
                self._members[name] = info

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def header(self, name: str) -> ArrayHeader:
        """Shape and type of an array, without reading it."""
        with self._open(name) as handle:
            return self._header(name, handle)

    def read(self, name: str) -> NDArray[Any]:
        """An array, complete and with the right checksum."""
        with self._open(name) as handle:
            header = self._header(name, handle)
            check_memory(self._path, f"the array {name}", memory_of(header), self._limit)
            return read_data(self._path, handle, name, header)

    def _header(self, name: str, handle: IO[bytes]) -> ArrayHeader:
        size = self._members[name].file_size
        header = read_header(self._path, handle, name, size)
        # Bytes that belong to nothing would also keep the checksum from being compared.
        if header.offset + header.nbytes != size and not header.dtype.hasobject:
            raise FileFormatError(
                f"{self._path}: {name} of shape {header.shape} and type {header.dtype} needs "
                f"{header.offset + header.nbytes} bytes, but the archive holds {size}"
            )
        return header

    def _open(self, name: str) -> IO[bytes]:
        path, info = self._path, self._members[name]
        if info.flag_bits & ENCRYPTED:
            raise FileFormatError(f"{path}: {name} is encrypted; save the array without a password")
        if info.compress_type not in METHODS:
            raise FileFormatError(f"{path}: {name} is compressed by method {info.compress_type}; expected deflate")
        check_declared(path, f"the array {name}, compressed,", info.compress_size, path.stat().st_size)
        ratio = MAX_DEFLATE_RATIO if info.compress_type == zipfile.ZIP_DEFLATED else 1
        check_declared(path, f"the array {name}", info.file_size, ratio * info.compress_size)
        return self._zip.open(info)


def read_npy(path: Path, limit: int, header: ArrayHeader) -> NDArray[Any]:
    """The array of an NPY file whose header was looked at already."""
    check_memory(path, "the array", memory_of(header), limit)
    with path.open("rb") as handle:
        handle.seek(header.offset)
        return read_data(path, handle, "the array", header)


def npy_header(path: Path) -> ArrayHeader:
    """The header of an NPY file."""
    with path.open("rb") as handle:
        return read_header(path, handle, "the array", path.stat().st_size)


def memory_of(header: ArrayHeader) -> int:
    """Bytes of the array as it is stored, and of the float64 numbers that will be made of it."""
    if header.dtype == np.float64:
        return header.nbytes
    columns = len(header.dtype.names or "1")
    items = header.nbytes // header.dtype.itemsize if header.dtype.itemsize else 0
    return header.nbytes + 8 * items * columns


def read_data(path: Path, handle: IO[bytes], name: str, header: ArrayHeader) -> NDArray[Any]:
    """Fill the array piece by piece, so that memory grows only with what is really there."""
    if header.dtype.hasobject:
        raise FileFormatError(f"{path}: {name} holds objects, which are never unpickled; expected numbers")
    data = np.empty(header.nbytes, dtype=np.uint8)
    done = 0
    while done < len(data):
        piece = handle.read(min(PIECE, len(data) - done))
        if not piece:
            check_declared(path, f"{name} of shape {header.shape} and type {header.dtype}", len(data), done)
        data[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        done += len(piece)
    return data.view(header.dtype).reshape(header.shape, order="F" if header.columns_first else "C")
