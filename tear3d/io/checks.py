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

from tear3d.errors import FileFormatError, MissingExtraError, TearError

MAX_HEADER_BYTES = 1 << 16
MAX_POINTS_PER_BYTE = 1000
"""Above this, a compressed file's count is a lie rather than good compression."""

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


def clean_points(path: Path, points: NDArray[Any]) -> NDArray[np.float64]:
    """Points as contiguous float64 without non-finite rows; at least one must remain."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    if len(points) == 0:
        raise FileFormatError(f"{path}: holds no points")
    finite = np.isfinite(points).all(axis=1)
    dropped = len(points) - int(np.count_nonzero(finite))
    if dropped == len(points):
        raise FileFormatError(f"{path}: none of its {dropped} points has finite coordinates")
    if dropped:
        logger.warning("%s: dropped %d of %d points with non-finite coordinates", path, dropped, len(points))
        points = points[finite]
    return points
