"""What every reader needs: bounded headers, one kind of error, clean points."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError, InputError, MissingExtraError, TearError
from tear3d.problem.arrays import finite_rows

MAX_HEADER_BYTES = 1 << 16
MAX_POINTS_PER_BYTE = 1000
"""Above this, a compressed file's count is a lie rather than good compression."""
USUAL_EXPANSION = 100
USUAL_MEMORY = 1 << 28
"""A file may always take this much memory, or that many times its own size."""

logger = logging.getLogger(__name__)


def load_package(package: str, extra: str, what: str) -> ModuleType:
    """Import an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(package, extra, what) from error


@contextmanager
def format_errors(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises on a damaged file into one FileFormatError naming the file."""
    try:
        yield
    except TearError:
        raise
    except MemoryError as error:
        raise FileFormatError(f"{path}: the {kind} file does not fit in memory") from error
    except Exception as error:
        detail = str(error).strip().split("\n")[0][:200] or type(error).__name__
        raise FileFormatError(f"{path}: damaged or not a {kind} file ({detail})") from error
    except BaseException as error:
        # A Rust panic arrives as a BaseException of this name.
        if type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(f"{path}: damaged {kind} file (the decoder gave up)") from error


def header_lines(handle: BinaryIO, path: Path, kind: str, last: bytes) -> list[list[str]]:
    """The words of each header line up to the one whose first word is `last`, within a size limit."""
    lines = []
    left = MAX_HEADER_BYTES
    while left > 0:
        raw = handle.readline(left)
        if not raw:
            raise FileFormatError(f"{path}: the {kind} header has no {last.decode()} line; file truncated?")
        left -= len(raw)
        words = raw.decode("ascii", "replace").split()
        if words:
            lines.append(words)
            if words[0].encode("ascii", "replace") == last:
                return lines
    raise FileFormatError(f"{path}: the {kind} header is longer than {MAX_HEADER_BYTES} bytes")


def whole_number(path: Path, what: str, text: str) -> int:
    """A count written in a header."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise FileFormatError(f"{path}: {what} is {text[:40]!r}; expected a whole number")
    return int(text)


def check_declared(path: Path, what: str, needed: int, available: int) -> None:
    """Refuse, before any allocation, a header that promises more than the file can hold."""
    if needed > available:
        raise FileFormatError(
            f"{path}: {what} needs at least {needed} bytes but {max(available, 0)} are there; "
            "the file is truncated or its header is wrong"
        )


def missing(path: Path) -> str:
    """What is there in place of a file."""
    return "is a folder; pass a file" if path.is_dir() else "is not a regular file" if path.exists() else "no such file"


def memory_limit(path: Path, max_bytes: int | None) -> int:
    """How much memory the contents of a file may take: what the caller allows, or what is usual."""
    if max_bytes is None:
        return max(USUAL_MEMORY, USUAL_EXPANSION * path.stat().st_size)
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, (int, np.integer)) or max_bytes < 1:
        raise InputError(f"max_bytes is {max_bytes!r}; expected a whole number of bytes, or None")
    return int(max_bytes)


def check_memory(path: Path, what: str, needed: int, limit: int) -> None:
    """Refuse, before any allocation, a file that would expand to more than is allowed."""
    if needed > limit:
        raise FileFormatError(
            f"{path}: {what} would take {needed} bytes of memory, and {limit} are allowed for this file; "
            f"if it is to be trusted, pass max_bytes={needed} or more"
        )


def clean_points(path: Path, points: NDArray[Any], *, keep_invalid: bool = False) -> NDArray[np.float64]:
    """Points as contiguous float64, of which at least one is finite; the others are dropped unless they are to stay."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    if len(points) == 0:
        raise FileFormatError(f"{path}: holds no points")
    finite = finite_rows(points)
    dropped = len(points) - int(np.count_nonzero(finite))
    if dropped == len(points):
        raise FileFormatError(f"{path}: none of its {dropped} points has finite coordinates")
    if dropped and not keep_invalid:
        logger.warning("%s: dropped %d of %d points with non-finite coordinates", path, dropped, len(points))
        points = points[finite]
    return points
