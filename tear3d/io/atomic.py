"""Files that are either complete or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tear3d.errors import InputError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name only when the block ends without an exception.

    The data goes to a temporary file in the same folder, reaches the disk and is renamed; after an
    exception the temporary file is removed and an older file of that name is untouched.

    Parameters
    ----------
    path
        The file to write. A symbolic link is followed; its folder must exist.

    Yields
    ------
    BinaryIO
        The temporary file, open for writing.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"{path}: the folder {target.parent} does not exist; create it first")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file; give the name of a file to write")
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        handle = open(temporary, "xb")  # noqa: SIM115 - closed below, before the rename
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
