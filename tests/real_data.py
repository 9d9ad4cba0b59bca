"""Where the real data is: in the folder named by TEAR3D_DATA, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# The reason of every skip for want of real data starts like this; no other skip is allowed in a strict run.
MISSING = "real data not found"


def _folder(name: str) -> Path | None:
    root = os.environ.get("TEAR3D_DATA")
    folder = Path(root) / name if root else None
    return folder if folder is not None and folder.is_dir() else None


def pairs_dir() -> Path | None:
    """The folder of correspondence files, or None."""
    return _folder("pairs")


def clouds_dir() -> Path | None:
    """The folder of cloud pairs, or None."""
    return _folder("clouds")


def require_pairs() -> Path:
    """The folder of correspondence files; skips the test when it is not there."""
    return pairs_dir() or pytest.skip(f"{MISSING}: set TEAR3D_DATA")


def require_clouds() -> Path:
    """The folder of cloud pairs; skips the test when it is not there."""
    return clouds_dir() or pytest.skip(f"{MISSING}: set TEAR3D_DATA")
