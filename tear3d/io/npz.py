"""Archives of NumPy arrays; nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io import npy
from tear3d.io.checks import check_declared

KIND = "NPZ"
NAMES = ("points", "xyz", "cloud", "vertices")
MAX_DEFLATE_RATIO = 1100
"""Deflate cannot pack more than about 1032 bytes into one."""


def read(path: Path) -> NDArray[Any]:
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        members = {Path(info.filename).stem: info for info in archive.infolist()}
        chosen = next((name for name in NAMES if name in members), None)
        if chosen is None:
            if len(members) != 1:
                raise FileFormatError(
                    f"{path}: holds {', '.join(members)[:100] or 'no arrays'}; "
                    f"expected one array or one named {', '.join(NAMES)}"
                )
            chosen = next(iter(members))
        info = members[chosen]
        check_declared(path, f"the compressed array {chosen}", info.compress_size, size)
        check_declared(path, f"the array {chosen}", info.file_size, MAX_DEFLATE_RATIO * size)
        with archive.open(info) as handle:
            return npy.read_points(path, handle, info.file_size)
