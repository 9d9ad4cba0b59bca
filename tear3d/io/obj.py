"""The vertices of Wavefront OBJ files, with the colours that many programs write behind their coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.cloud import Parts
from tear3d.io.columns import COLOURS, grouped

KIND = "OBJ"
COLOURED = 7
"""Words of a line with colours: v x y z red green blue."""


def read(path: Path, limit: int) -> NDArray[Any]:
    return np.loadtxt(_vertices(path), usecols=(1, 2, 3), ndmin=2, comments="#")


def read_all(path: Path, limit: int) -> Parts:
    lines = _vertices(path)
    if any(len(line.partition("#")[0].split()) != COLOURED for line in lines):
        return Parts(np.loadtxt(lines, usecols=(1, 2, 3), ndmin=2, comments="#"), {})
    table = np.loadtxt(lines, usecols=range(1, COLOURED), ndmin=2, comments="#")
    return Parts(table[:, :3], grouped(dict(zip(COLOURS, table[:, 3:].T, strict=True))))


def _vertices(path: Path) -> list[str]:
    with path.open(encoding="latin-1") as handle:
        vertices = [line for line in handle if line.startswith(("v ", "v\t"))]
    if not vertices:
        raise FileFormatError(f"{path}: has no vertex lines (v x y z)")
    return vertices
