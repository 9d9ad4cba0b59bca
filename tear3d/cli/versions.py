"""What `tear3d --version` tells: all that a result may depend on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator

import tear3d

_COMPUTING = ("numpy", "scipy", "numba", "llvmlite")
_OPTIONAL = ("laspy", "pye57", "pypcd4", "open3d", "open3d-cpu", "torch", "pyarrow")
_SUFFIX = ".dist-info"


def lines() -> Iterator[str]:
    """One for tear3d, then Python, the packages that compute, those that add formats, and the system."""
    yield f"tear3d {tear3d.__version__}"
    yield f"Python {platform.python_version()}"
    found = _installed()
    yield from (f"{name} {found[name]}" for name in (*_COMPUTING, *_OPTIONAL) if name in found)
    yield f"{platform.system() or sys.platform} {platform.machine()}".strip()


def _installed() -> dict[str, str]:
    """Versions by the names of the folders that installers leave: to import `importlib.metadata` takes longer than all
    the rest of the command."""
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(_SUFFIX):
                package, _, version = name.removesuffix(_SUFFIX).partition("-")
                found.setdefault(package.lower().replace("_", "-"), version)
    return found
