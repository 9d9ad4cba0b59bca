"""The vertices of Wavefront OBJ files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError

KIND = "OBJ"


def read(path: Path, limit: int) -> NDArray[Any]:
    with path.open(encoding="latin-1") as handle:
        vertices = [line for line in handle if line.startswith(("v ", "v\t"))]
    if not vertices:
        raise FileFormatError(f"{path}: has no vertex lines (v x y z)")
    return np.loadtxt(vertices, usecols=(1, 2, 3), ndmin=2, comments="#")
