"""Which files of a folder are scans."""

from __future__ import annotations

from pathlib import Path

from tear3d.io.clouds import MODULES, suffix_of

MAYBE = (".csv", ".txt", ".asc", ".npz")
"""Suffixes that often name something else: scans of a folder only if it has no others."""


def clouds_in(folder: Path) -> list[Path]:
    """In no order; a name that leads nowhere is one of them, so that it is missed and not passed over."""
    found = [
        file
        for file in folder.iterdir()
        if suffix_of(file) in MODULES and not file.name.startswith(".") and (file.is_file() or not file.exists())
    ]
    return [file for file in found if suffix_of(file).removesuffix(".gz") not in MAYBE] or found
