"""A proof over pieces that was interrupted goes on where it was."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write

log = logging.getLogger("tear3d")

VERSION = 2


class Checkpoint:
    """Arrays in a file, for one problem: what it holds of another is refused.

    Parameters
    ----------
    path : path
    about : dict
        What tells problems apart: arrays and numbers.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path, self._about = Path(path), _digest(about)

    def load(self) -> dict[str, NDArray[Any]] | None:
        """What was saved last; None when nothing was."""
        if not self.path.exists():
            return None
        found = _read(self.path)
        known = str(found.pop("about", ""))
        if known != self._about:
            raise InputError(
                f"checkpoint: {self.path} is of another problem, of other options, of another pose or version: "
                "remove it, or name another"
            )
        return found

    def save(self, **arrays: NDArray[Any]) -> None:
        """Replace what was saved; the file is complete at every moment. A full disk costs no proof, but is told."""
        try:
            with atomic_write(self.path) as file:
                np.savez(file, allow_pickle=False, about=np.array(self._about), **arrays)
        except (OSError, InputError) as error:
            log.warning("the checkpoint %s was not written (%s): the proof goes on", self.path, error)

    def done(self) -> None:
        """Nothing is left to go on with."""
        self.path.unlink(missing_ok=True)


def check_path(path: object) -> None:
    """Refuse, before any work is done, what is no checkpoint or cannot become one."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"checkpoint is {path!r}: expected a path")
    try:
        with atomic_write(path):
            raise _Untouched
    except _Untouched:
        pass
    except InputError as error:
        raise InputError(f"checkpoint: {error}") from error
    if Path(path).exists():
        _read(Path(path))


class _Untouched(Exception):
    """Leaves a file as it was."""


def _read(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with open(path, "rb") as file, NpzFile(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"checkpoint: {path} cannot be read ({error}): remove it, or name another") from error


def _digest(about: dict[str, Any]) -> str:
    """The same for the same problem."""
    out = hashlib.sha256(str(VERSION).encode())
    for name in sorted(about):
        value = about[name]
        if isinstance(value, np.ndarray):
            out.update(name.encode() + str((value.dtype, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
        else:
            out.update(name.encode() + json.dumps(value, sort_keys=True, default=str).encode())
    return out.hexdigest()
