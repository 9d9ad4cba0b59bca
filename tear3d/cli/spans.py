"""What the numbers of clouds say before any work: their units, and what voxels leave of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tear3d.problem.arrays import FloatArray

_TOLERANCE = 0.3
"""How far the ratio of two spans may be from that of two units to be taken for it, as for what `align` refuses."""
_LEAST = 100.0
"""Below this ratio a thing and its scene may have one unit; free choice, that of `align`."""
_POINTS = 3


def units(names: Sequence[str], clouds: Sequence[FloatArray]) -> str:
    """A sentence, where the spans of two clouds differ as two units of length do; else empty."""
    from tear3d.clouds.inputs import UNITS, span_of

    (small, less), (large, more) = sorted(zip(map(span_of, clouds), names, strict=True))
    if not small > 0.0:
        return ""
    ratio = large / small
    near = [factor for factor in UNITS if factor >= _LEAST and abs(ratio / factor - 1.0) < _TOLERANCE]
    if not near:
        return ""
    return (
        f"{less} spans {_short(small)} and {more} {_short(large)}: is one in {UNITS[near[0]]}? "
        f"`tear3d transform {more} --scale {1.0 / near[0]:.6g} -o NEW` gives it the unit of the other"
    )


def voxels(names: Sequence[str], clouds: Sequence[FloatArray], voxel_size: float | None) -> float:
    """The voxel size, chosen unless it is given; refused where a cloud would shrink to a point."""
    import numpy as np

    from tear3d.errors import InputError
    from tear3d.features.voxel import check_voxel_size, choose_voxel_size

    for name, points in zip(names, clouds, strict=True):
        if len(points) < _POINTS:
            raise InputError(f"{name} has {len(points)} points: expected a cloud of at least {_POINTS}")
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    size = choose_voxel_size(*clouds) if voxel_size is None else voxel_size
    for name, points in zip(names, clouds, strict=True):
        longest = float(np.ptp(points, axis=0).max())
        if longest <= np.sqrt(3.0) * size:  # a longer one has points in two voxels at least
            raise InputError(
                f"{name} is {_short(longest)} long at most, and voxels of {_short(size)} leave no shape of it: "
                + (units(names, clouds) or "pass a smaller voxel_size")
            )
    return size


def _short(value: float) -> str:
    """Three digits, written out up to a million."""
    return f"{float(f'{value:.3g}'):g}"
