"""The domains of a row as the sweep bound sees them: cells, and how far r·x can range in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges, rectangle_ranges
from tear3d.prove.domains.angles import WHOLE_SPHERE, AngleRectangle
from tear3d.prove.domains.circle import Arc, on_circle, orthogonal_basis, top_arcs
from tear3d.prove.domains.sphere import CubeCell, top_cells

TOP_ARCS = 8
"""Arcs to start with; free choice."""


class Cell(Protocol):
    """A named tuple of numbers that knows its parts."""

    @property
    def radius(self) -> float: ...

    def split(self) -> Sequence[Any]: ...


class Domain(NamedTuple):
    """All unit vectors r that a row may be."""

    roots: Sequence[Any]
    """Cells that cover it."""
    cell: Callable[[FloatArray], Any]
    """A cell from its numbers."""
    ranges: Callable[[FloatArray, Any, FloatArray, FloatArray], None]
    """Writes the range of r·x_i, r in a cell, into two arrays."""
    centre: Callable[[Any], FloatArray]
    tangents: Callable[[FloatArray], FloatArray]
    """Directions in which a unit vector of the domain can move."""


def _basis(r: FloatArray) -> FloatArray:
    return np.array(orthogonal_basis(r))


def cube() -> Domain:
    """The whole sphere, in the squares of a cube map."""
    return Domain(
        roots=top_cells(1),
        cell=lambda row: CubeCell(*(int(value) for value in row)),
        ranges=lambda x, cell, lo, hi: cell_ranges(x, cell.vertices, lo, hi),
        centre=lambda cell: cell.centre,
        tangents=_basis,
    )


def rectangles() -> Domain:
    """The whole sphere, in the paper's rectangles of angles."""
    return Domain(
        roots=WHOLE_SPHERE.split(),
        cell=lambda row: AngleRectangle(*row.tolist()),
        ranges=lambda x, cell, lo, hi: rectangle_ranges(x, cell.a1, cell.a2, cell.b1, cell.b2, lo, hi),
        centre=lambda cell: cell.centre,
        tangents=_basis,
    )


def circle(across: FloatArray) -> Domain:
    """The unit vectors orthogonal to `across`."""
    u, v = orthogonal_basis(across)
    return Domain(
        roots=top_arcs(TOP_ARCS),
        cell=lambda row: Arc(*row.tolist()),
        ranges=lambda x, cell, lo, hi: arc_ranges(x, u, v, cell.a1, cell.a2, lo, hi),
        centre=lambda cell: on_circle(u, v, cell.middle),
        tangents=lambda r: np.cross(across, r)[None, :],
    )
