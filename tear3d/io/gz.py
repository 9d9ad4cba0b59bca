"""Files compressed by gzip: unpacked to a temporary file, of which no more is written than memory is allowed."""

from __future__ import annotations

import gzip
import importlib
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from tear3d.errors import FileFormatError, InputError, MissingExtraError
from tear3d.io.checks import check_memory, format_errors
from tear3d.io.cloud import Cloud, Parts

KIND = "gzip"
PIECE = 1 << 20
LEVEL = 6


def read(path: Path, limit: int) -> NDArray[Any]:
    return _inside(path, limit, everything=False).points


def read_all(path: Path, limit: int) -> Parts:
    return _inside(path, limit, everything=True)


def _inside(path: Path, limit: int, *, everything: bool) -> Parts:
    from tear3d.io.clouds import module_of

    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / (path.stem if path.suffix.lower() == ".gz" else path.name)
        _unpack(path, inner, limit)
        try:
            module = module_of(inner)
            if module.KIND == KIND:
                raise FileFormatError(f"{path}: is compressed twice")
            with format_errors(inner, module.KIND):
                if everything and hasattr(module, "read_all"):
                    return module.read_all(inner, limit)
                return Parts(module.read(inner, limit), {})
        except MissingExtraError:
            raise
        except InputError as error:
            raise FileFormatError(str(error).replace(str(inner), str(path))) from error


def _unpack(path: Path, inner: Path, limit: int) -> None:
    written = 0
    with gzip.open(path, "rb") as packed, inner.open("wb") as handle:
        while piece := packed.read(PIECE):
            written += len(piece)
            check_memory(path, "its unpacked contents", written, limit)
            handle.write(piece)


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    from tear3d.io.clouds import WRITERS

    kind = suffix.removesuffix(".gz")
    module = importlib.import_module(f"tear3d.io.{WRITERS[kind]}")
    with gzip.GzipFile("", "wb", LEVEL, handle, mtime=0) as packed:
        module.write(packed, cloud, kind)
