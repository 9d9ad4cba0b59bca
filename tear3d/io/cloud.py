"""A cloud with all that its file carries: points, and named attributes of every point."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, as_points

RESERVED = ("x", "y", "z", "points")
TRIPLES = {"colors": "uf", "normals": "f"}
"""Attributes with three columns, and the kinds of numbers that they may have."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points and what is known of each of them.

    NumPy, `register_clouds` and all that takes points take a cloud as well.

    Parameters
    ----------
    points
        N×3 float64.
    attributes
        Arrays of N or N×k numbers by name. `colors` (N×3: uint8, uint16, or floats from 0 to 1), `normals` (N×3
        floats), `intensity`, `time` and `classification` have the same name whatever the format; all others have
        that of the file.
    viewpoint
        Where the scanner was, as in PCD files: x y z and the quaternion w x y z.
    crs
        The coordinate reference system, as WKT.
    format
        The suffix of the file it was read from, in lower case.
    las
        The header of a LAS file, as laspy has it: with it scale, offset and records are written as they were.
    """

    points: FloatArray
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)
    viewpoint: FloatArray | None = None
    crs: str | None = None
    format: str = ""
    las: Any = None

    def __post_init__(self) -> None:
        points = as_points(self.points, "points", finite=False)
        kept = {str(name): _at_most_double(np.asarray(values)) for name, values in dict(self.attributes).items()}
        for name, values in kept.items():
            problem = attribute_problem(name, values, len(points))
            if problem:
                raise InputError(f"the attribute {name!r} {problem}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "attributes", kept)
        if self.viewpoint is not None:
            viewpoint = np.asarray(self.viewpoint, dtype=np.float64)
            if viewpoint.shape != (7,) or not np.isfinite(viewpoint).all() or not np.any(viewpoint[3:]):
                raise InputError("viewpoint: expected seven finite numbers, x y z and the quaternion w x y z")
            object.__setattr__(self, "viewpoint", viewpoint)

    def __len__(self) -> int:
        return len(self.points)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.points, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        names = ", ".join(self.attributes) or "no attributes"
        return f"Cloud({len(self)} points, {names})"

    @classmethod
    def of(cls, obj: Any) -> Cloud:
        """A cloud from a cloud, N×3 numbers, an array with the fields x, y, z, a data frame with such columns, or a
        point cloud of Open3D."""
        from tear3d.io.foreign import cloud_of

        return cloud_of(obj)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, max_bytes: int | None = None, keep_invalid: bool = False) -> Cloud:
        """Read a file with all its attributes; the parameters and errors are those of `read_cloud`."""
        from tear3d.io.clouds import read_whole

        return read_whole(path, max_bytes=max_bytes, keep_invalid=keep_invalid)

    @classmethod
    def sampled(
        cls, path: str | os.PathLike[str], count: int = 100_000, *, seed: int = 0, max_bytes: int | None = None
    ) -> Cloud:
        """Points spread evenly over the surface of a mesh, with its normals, as a scan of it would have them.

        Parameters
        ----------
        path
            An STL, OBJ, GLB, OFF or PLY file with faces.
        count
            How many points.
        seed
            The same seed gives the same points.
        max_bytes
            See `read_cloud`.
        """
        from tear3d.io.mesh import sample_mesh

        return sample_mesh(Path(path), count, seed, max_bytes)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write points and attributes; see `write_cloud`.

        Parameters
        ----------
        path
            The file; its suffix is the format. Without one, that of the file which the cloud was read from is appended.

        Returns
        -------
        Path
            The file that was written.
        """
        from tear3d.io.clouds import write_cloud

        path = Path(path)
        if not path.suffix and self.format:
            path = path.with_name(path.name + self.format)
        write_cloud(path, self)
        return path

    def take(self, rows: ArrayLike | slice) -> Cloud:
        """The cloud of some rows, given by a mask, by numbers or as a slice."""
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        attributes = {name: values[chosen] for name, values in self.attributes.items()}
        return replace(self, points=self.points[chosen], attributes=attributes)

    def transformed(self, pose: ArrayLike) -> Cloud:
        """The cloud in another place: points and viewpoint are moved, normals are rotated.

        Parameters
        ----------
        pose
            4×4: a rotation, possibly with one scale, and a translation.
        """
        from tear3d.io.motion import moved

        return moved(self, pose)

    @classmethod
    def joined(cls, clouds: Iterable[Cloud]) -> Cloud:
        """One cloud of several, with the attributes that all of them have."""
        from tear3d.io.joining import joined

        return joined(list(clouds))

    @classmethod
    def from_open3d(cls, cloud: Any) -> Cloud:
        """A cloud from a point cloud of Open3D, legacy or tensor."""
        from tear3d.io.foreign import from_open3d

        return from_open3d(cloud)

    def to_open3d(self) -> Any:
        """A legacy point cloud of Open3D, with colours and normals; it has no place for other attributes."""
        from tear3d.io.foreign import to_open3d

        return to_open3d(self)


def _at_most_double(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize > 8 else values


class Parts(NamedTuple):
    """What a reader finds."""

    points: NDArray[Any]
    attributes: dict[str, NDArray[Any]]
    facts: dict[str, Any] = {}  # noqa: RUF012 - never changed
    """Other fields of the cloud."""


def attribute_problem(name: str, values: NDArray[Any], count: int) -> str:
    """Why this is no attribute of `count` points, or nothing."""
    if not name or name in RESERVED:
        return "has a name that is reserved for the coordinates"
    if values.dtype.kind not in "biuf":
        return f"has dtype {values.dtype}: expected numbers"
    if values.ndim not in (1, 2) or len(values) != count or 0 in values.shape[1:]:
        return f"has shape {values.shape}: expected one row for each of {count} points"
    if name in TRIPLES and (values.shape != (count, 3) or values.dtype.kind not in TRIPLES[name]):
        kinds = "three bytes, 16-bit numbers or floats" if name == "colors" else "three floats"
        return f"has shape {values.shape} and dtype {values.dtype}: expected {kinds} in a row"
    if name == "colors" and values.dtype.kind == "u" and values.dtype.itemsize > 2:
        return f"has dtype {values.dtype}: expected uint8, uint16 or floats"
    return ""
