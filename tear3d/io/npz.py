"""Clouds in archives of NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io import npy
from tear3d.io.arrays import Archive

KIND = "NPZ"
NAMES = ("points", "xyz", "cloud", "vertices")


def read(path: Path, limit: int) -> NDArray[Any]:
    with Archive(path, limit) as archive:
        names = archive.names
        chosen = next((name for name in NAMES if name in names), None)
        if chosen is None:
            if len(names) != 1:
                raise FileFormatError(
                    f"{path}: holds {', '.join(names)[:100] or 'no arrays'}; "
                    f"expected one array or one named {', '.join(NAMES)}"
                )
            chosen = names[0]
        npy.check_points(path, chosen, archive.header(chosen))
        return npy.points_of(archive.read(chosen))
