"""Where the real data is, if it is there."""

from __future__ import annotations

import os
from pathlib import Path


def _folder(name: str) -> Path | None:
    root = os.environ.get("TEAR3D_DATA")
    base = Path(root) if root else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = base / name
    return folder if folder.is_dir() else None


def pairs_dir() -> Path | None:
    """The folder of correspondence files, or None."""
    return _folder("pairs")


def clouds_dir() -> Path | None:
    """The folder of cloud pairs, or None."""
    return _folder("clouds")
