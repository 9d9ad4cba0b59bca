"""The steps that a LAS file counts its coordinates in."""

from __future__ import annotations

from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray

LARGEST = 2.0**31 - 2.0
FINEST = 1e-9
"""Of a new file, in the unit of the points or of their size, whichever is less."""


def fit_scaling(points: FloatArray, header: Any = None) -> tuple[FloatArray, FloatArray]:
    """Scales and offsets by which all points can be written: those of a header where that is possible, and otherwise
    the finest powers of ten and the middle of the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = np.rint(low / 2.0 + high / 2.0)
    reach = np.maximum(high - middle, middle - low)
    # What 31 bits allow, and what float64 resolves at these coordinates.
    least = np.maximum(reach / LARGEST, np.spacing(np.maximum(np.abs(low), np.abs(high))))
    least = np.maximum(least, FINEST * np.minimum(1.0, np.where(reach > 0.0, reach, 1.0)))
    scales = 10.0 ** np.ceil(np.log10(least))
    offsets = middle
    if header is None:
        return scales, offsets
    old_scales, old_offsets = np.array(header.scales), np.array(header.offsets)
    usable = np.isfinite(old_scales) & (old_scales > 0.0) & np.isfinite(old_offsets)
    old_scales, old_offsets = np.where(usable, old_scales, 1.0), np.where(usable, old_offsets, 0.0)
    same_offset = usable & (np.maximum(high - old_offsets, old_offsets - low) <= LARGEST * old_scales)
    same_scale = usable & (reach <= LARGEST * old_scales)
    return (
        np.where(same_offset | same_scale, old_scales, scales),
        np.where(same_offset, old_offsets, offsets),
    )
