"""The coordinate reference system that a cloud's coordinates are in."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Any

from tear3d.io.cloud import Cloud

PROJECTION = ("LASF_Projection", (2111, 2112, 34735, 34736, 34737))
"""Who owns the records of a LAS file that say it, and their numbers."""

logger = logging.getLogger(__name__)


def name_of(crs: str) -> str:
    """The name in a WKT, or its beginning."""
    found = re.search(r'"([^"]+)"', crs)
    return found[1] if found else crs[:60]


def in_frame_of(cloud: Cloud, other: Cloud) -> Cloud:
    """A cloud that was moved into the frame of another: it has the reference of that one, or none if that has none, and
    a logged warning says so where it had another."""
    same = cloud.crs == other.crs and (cloud.crs is not None or not _records(cloud.las))
    if same:
        return cloud
    if cloud.crs is not None or _records(cloud.las):
        own = "its own" if cloud.crs is None else name_of(cloud.crs)
        new = "none" if other.crs is None else name_of(other.crs)
        logger.warning("the aligned cloud has the coordinate reference of the target, %s, instead of %s", new, own)
    las = cloud.las
    if las is not None:
        las = las.copy()
        las.vlrs = [vlr for vlr in las.vlrs if not says(vlr)] + _records(other.las)
        las.global_encoding.wkt = other.crs is not None or las.point_format.id >= 6
    return replace(cloud, crs=other.crs, las=las)


def _records(las: Any) -> list[Any]:
    return [] if las is None else [vlr for vlr in las.vlrs if says(vlr)]


def says(vlr: Any) -> bool:
    """Whether a record of a LAS file says it."""
    return vlr.user_id.rstrip("\0") == PROJECTION[0] and vlr.record_id in PROJECTION[1]
