"""Settings, versions and fingerprints that let somebody else repeat a run."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.report.words import count, number

_PACKAGES = ("numpy", "scipy", "numba")


def plain(value: Any) -> Any:
    """A setting as something JSON can hold; arrays become a short description."""
    if isinstance(value, np.ndarray) and value.ndim > 0:
        if value.size <= 16:
            return value.tolist()
        return f"array of {count(len(value))}, {number(float(value.min()))} to {number(float(value.max()))}"
    if isinstance(value, (np.generic, np.ndarray)):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value] if len(value) <= 16 else plain(np.asarray(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def versions() -> dict[str, str]:
    """Versions of tear3d, of what it computes with, and of the system."""
    from tear3d import __version__

    found = {"tear3d": __version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def fingerprint(*arrays: FloatArray) -> str:
    """A short hash of the input, to tell whether two runs saw the same pairs."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(str(array.shape).encode())
        for start in range(0, len(array), 1 << 18):
            digest.update(np.ascontiguousarray(array[start : start + (1 << 18)]).data)
    return digest.hexdigest()[:16]
