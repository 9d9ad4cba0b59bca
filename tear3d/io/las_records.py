"""Records after the points of a LAS 1.4 file (EVLR): those that say the coordinate reference are read.

The others, such as waveforms, can be larger than all points, and are not looked into.
"""

from __future__ import annotations

import logging
import struct
from pathlib import Path
from typing import Any

from tear3d.io.checks import check_declared
from tear3d.io.reference import PROJECTION, says

RECORD_HEADER = 60
MOST = 10_000
LONGEST = 65_535
"""Bytes of a record before the points, which is where it is written."""

logger = logging.getLogger(__name__)


def add_references(path: Path, laspy: Any, header: Any) -> None:
    """Put them among the records before the points, unless there is one that says it."""
    if header.number_of_evlrs and not any(says(vlr) for vlr in header.vlrs):
        header.vlrs.extend(_references(path, laspy, header.start_of_first_evlr, header.number_of_evlrs))


def _references(path: Path, laspy: Any, at: int, count: int) -> list[Any]:
    found: list[Any] = []
    size = path.stat().st_size
    what = f"its records after the points ({count})"
    check_declared(path, what, at + RECORD_HEADER * count, size)
    with path.open("rb") as handle:
        for _ in range(min(count, MOST)):
            handle.seek(at)
            raw = handle.read(RECORD_HEADER)
            check_declared(path, what, RECORD_HEADER, len(raw))
            user, number, length, description = struct.unpack("<2x16sHQ32s", raw)
            at += RECORD_HEADER + length
            check_declared(path, what, at, size)
            owner = user.split(b"\0")[0].decode("latin-1")
            if owner != PROJECTION[0] or number not in PROJECTION[1]:
                continue
            if length > LONGEST:
                logger.warning("%s: its coordinate reference has %d bytes, more than can be kept", path, length)
                continue
            text = description.split(b"\0")[0].decode("latin-1")
            record = laspy.VLR(owner, number, text, handle.read(length))
            found.append(laspy.vlrs.known.vlr_factory(record))
    return found
