"""One cloud of several."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.io.cloud import Cloud
from tear3d.io.reference import differing, referenced, unsaid

logger = logging.getLogger(__name__)


def joined(clouds: list[Cloud]) -> Cloud:
    if not clouds:
        raise InputError("clouds: none given, expected one at least")
    first = clouds[0]
    attributes, uncommon = {}, []
    for name in dict.fromkeys(name for cloud in clouds for name in cloud.attributes):
        parts = [cloud.attributes[name] for cloud in clouds if name in cloud.attributes]
        if len(parts) == len(clouds) and len({part.shape[1:] for part in parts}) == 1:
            attributes[name] = np.concatenate(_same_colours(parts) if name == "colors" else parts)
        else:
            uncommon.append(name)
    if uncommon:
        logger.warning("left out, since not all %d clouds have it alike: %s", len(clouds), ", ".join(uncommon))
    places = {None if cloud.viewpoint is None else tuple(cloud.viewpoint.tolist()) for cloud in clouds}
    named = [(f"cloud {number}", cloud) for number, cloud in enumerate(clouds, 1)]
    doubt = differing(named) or unsaid(named)
    if doubt:
        logger.warning("%s: the joined cloud has none", doubt)
    whole = Cloud(
        np.concatenate([cloud.points for cloud in clouds]),
        attributes,
        first.viewpoint if len(places) == 1 else None,
        first.crs,
        first.format if all(cloud.format == first.format for cloud in clouds) else "",
        first.las if all(cloud.las is not None for cloud in clouds) else None,
    )
    return referenced(whole, None if doubt else first)


def _same_colours(parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """In the finest type among them."""
    if len({_bytes_inside(part) for part in parts}) > 1:
        parts = [part.astype(np.uint8) if _bytes_inside(part) else part for part in parts]
    kinds = {part.dtype for part in parts}
    if len(kinds) == 1:
        return parts
    wanted = np.result_type(*kinds) if all(kind.kind == "f" for kind in kinds) else np.dtype(np.float64)
    if all(kind.kind == "u" for kind in kinds):
        wanted = np.dtype(np.uint16)
    return [recoloured(part, wanted) for part in parts]


def recoloured(colours: NDArray[Any], wanted: np.dtype[Any]) -> NDArray[Any]:
    """Colours in another type: 255 of a byte, 65535 of 16 bits and 1 of a float are the same. Numbers of 16 bits of
    which none is above 255 are bytes, as many programs write them to LAS files."""
    most = {"u1": 255, "u2": 65535}
    given, asked = most.get(colours.dtype.str[1:]), most.get(wanted.str[1:])
    if colours.dtype == wanted:
        return colours
    if _bytes_inside(colours):
        return recoloured(colours.astype(np.uint8), wanted)
    if asked is None:
        return (colours / given if given else colours).astype(wanted)
    if given is None:
        return np.rint(np.clip(np.nan_to_num(colours.astype(np.float64)), 0.0, 1.0) * asked).astype(wanted)
    return (colours.astype(np.int64) * 257 if asked > given else (colours.astype(np.int64) + 128) // 257).astype(wanted)


def _bytes_inside(colours: NDArray[Any]) -> bool:
    return colours.dtype == np.uint16 and int(colours.max(initial=0)) <= 255
