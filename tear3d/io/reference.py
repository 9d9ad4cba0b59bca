"""The coordinate reference system that a cloud's coordinates are in."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tear3d.io.cloud import Cloud

PROJECTION = ("LASF_Projection", (2111, 2112, 34735, 34736, 34737))
"""Who owns the records of a LAS file that say it, and their numbers."""
KEYS = 34735
PROJECTED, GEOGRAPHIC, VERTICAL = 3072, 2048, 4096
"""GeoTIFF keys whose value is a code of EPSG, or what is no code."""
CODES = range(1024, 32767)
UNNAMED = ("", "unknown", "unnamed", "undefined")

logger = logging.getLogger(__name__)


class Reference(NamedTuple):
    """What a file says of it."""

    name: str
    code: str
    """Of EPSG; empty where that is not said."""
    text: str
    """All of it, for comparison."""


def reference_of(cloud: Cloud) -> Reference | None:
    """From its WKT, or from the GeoTIFF keys of an older LAS file; None where nothing is said."""
    if cloud.crs is not None:
        return Reference(name_of(cloud.crs), _code(cloud.crs), "".join(cloud.crs.split()).rstrip("\0"))
    records = _records(cloud.las)
    if not records:
        return None
    text = " ".join(f"{vlr.record_id}:{vlr.record_data_bytes().hex()}" for vlr in records)
    keys = [key for vlr in records if vlr.record_id == KEYS for key in getattr(vlr, "geo_keys", ())]
    codes = {key.id: key.value_offset for key in keys if key.value_offset in CODES and not key.tiff_tag_location}
    main = codes.get(PROJECTED, codes.get(GEOGRAPHIC))
    if main is None:
        return Reference("a reference in GeoTIFF keys", "", text)
    code = f"EPSG:{main}" + (f"+{codes[VERTICAL]}" if VERTICAL in codes else "")
    return Reference(code, code, text)


def alike(one: Reference, other: Reference) -> bool:
    """Whether two are the same by their code, their text or their name."""
    if one.code and other.code:
        return one.code == other.code
    return one.text == other.text or (one.name == other.name and one.name.lower() not in UNNAMED)


def differing(clouds: Sequence[tuple[str, Cloud]]) -> str:
    """Which of these clouds, given with their names, have other references than the first that has one; or nothing."""
    known = [(name, found) for name, cloud in clouds if (found := reference_of(cloud)) is not None]
    others = [(name, found) for name, found in known[1:] if not alike(found, known[0][1])]
    if not others:
        return ""
    listed = ", ".join(f"{name} in {_told(found)}" for name, found in others)
    return f"{known[0][0]} has its coordinates in {_told(known[0][1])}, {listed}"


def unsaid(clouds: Sequence[tuple[str, Cloud]]) -> str:
    """Which of these clouds do not say their reference while others do; or nothing."""
    silent = [name for name, cloud in clouds if reference_of(cloud) is None]
    if not silent or len(silent) == len(clouds):
        return ""
    return f"{' and '.join(silent)} {'does' if len(silent) == 1 else 'do'} not say the coordinate reference"


def _told(reference: Reference) -> str:
    code = reference.code if reference.code not in ("", reference.name) else ""
    return f"{reference.name} ({code})" if code else reference.name


def _code(crs: str) -> str:
    """The code at the end of a WKT, which is that of the whole."""
    found = re.search(r'(?:AUTHORITY|ID)\s*\[\s*"EPSG"\s*,\s*"?(\d+)"?\s*\]\s*\]\s*\0*$', crs, re.IGNORECASE)
    plain = re.fullmatch(r"\s*EPSG:(\d+)\s*", crs, re.IGNORECASE)
    match = found or plain
    return f"EPSG:{match[1]}" if match else ""


def name_of(crs: str) -> str:
    """The name in a WKT, or its beginning."""
    found = re.search(r'"([^"]+)"', crs)
    return found[1] if found else crs[:60]


def in_frame_of(cloud: Cloud, other: Cloud) -> Cloud:
    """A cloud that was moved into the frame of another: it has the reference of that one, or none if that has none, and
    a logged warning says so where it had another."""
    own, new = reference_of(cloud), reference_of(other)
    if own is not None and (new is None or not alike(own, new)):
        told = "none" if new is None else new.name
        logger.warning("the moved cloud has the coordinate reference of the target, %s, instead of %s", told, own.name)
    return referenced(cloud, other)


def referenced(cloud: Cloud, other: Cloud | None) -> Cloud:
    """A cloud with the reference of another, or with none."""
    crs, records = (None, []) if other is None else (other.crs, _records(other.las))
    if cloud.crs == crs and (crs is not None or not (records or _records(cloud.las))):
        return cloud
    las = cloud.las
    if las is not None:
        las = las.copy()
        las.vlrs = [vlr for vlr in las.vlrs if not says(vlr)] + records
        las.global_encoding.wkt = crs is not None or las.point_format.id >= 6
    return replace(cloud, crs=crs, las=las)


def _records(las: Any) -> list[Any]:
    return [] if las is None else [vlr for vlr in las.vlrs if says(vlr)]


def says(vlr: Any) -> bool:
    """Whether a record of a LAS file says it."""
    return vlr.user_id.rstrip("\0") == PROJECTION[0] and vlr.record_id in PROJECTION[1]
