"""The folder of a batch: one file for each pair that is done, complete or not there, and one batch at a time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tear3d
from tear3d.cli.folder import TOOL, sha256, to_json
from tear3d.cli.manifest import Job
from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write

MARK, LOCK, PAIRS = "batch.json", ".lock", "pairs"
_KEY = 16
"""Hexadecimal digits of a fingerprint in the name of a file: among a million, two agree once in 10⁷ batches."""


class Store:
    """Where results are, by the content of what they were found from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[Path, tuple[tuple[int, int], str]] = {}

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, or go on in one of an earlier batch; nobody else may until the block ends."""
        self._refuse_foreign()
        (self.folder / PAIRS).mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / LOCK):
            for place in (self.folder, self.folder / PAIRS):  # half files of one that was killed
                for left in place.glob(".*.tmp"):
                    left.unlink(missing_ok=True)
            if not (self.folder / MARK).exists():
                self.write(MARK, to_json({"tool": TOOL, "command": "batch"}))
            yield

    def write(self, name: str, text: str) -> None:
        with atomic_write(self.folder / name) as file:
            file.write(text.encode("utf-8"))

    def inputs(self, job: Job) -> list[dict[str, Any]]:
        """Path, size and fingerprint of its files; each file is read once, unless it changes."""
        return [{"path": str(file), "bytes": file.stat().st_size, "sha256": self._digest(file)} for file in job.files]

    def place(self, job: Job, inputs: Sequence[dict[str, Any]]) -> Path:
        """The file of its result: other contents, options or versions have another."""
        facts = [[each["sha256"] for each in inputs], sorted(job.options.items()), tear3d.__version__]
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_KEY]
        return self.folder / PAIRS / f"{job.slug}-{key}.json"

    def _digest(self, file: Path) -> str:
        state = file.stat()
        stamp = (state.st_size, state.st_mtime_ns)
        known = self._digests.get(file)
        if known is None or known[0] != stamp:
            known = self._digests[file] = stamp, sha256(file)
        return known[1]

    def _refuse_foreign(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: is a file; pass the name of a folder")
        names = {entry.name for entry in self.folder.iterdir() if not entry.name.endswith(".tmp")}
        if names <= {LOCK, PAIRS}:
            return
        try:
            mark = json.loads((self.folder / MARK).read_text("utf-8"))
            ours = mark["tool"] == TOOL and mark["command"] == "batch"
        except (OSError, ValueError, KeyError, TypeError):
            ours = False
        if not ours:
            other = sorted(names - {LOCK, PAIRS})[0]
            raise InputError(f"{self.folder}: holds {other}, not written by a batch; pass a new or empty folder")


def load(path: Path) -> dict[str, Any] | None:
    """A result that is there and whole."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "result" in found else None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The system lets go of it when the process ends, however it ends; the file that stays says nothing."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _lock(handle)
        except OSError:
            raise InputError(
                f"{path.parent}: another batch is at work in it; wait for it, or pass another --out"
            ) from None
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    with suppress(ImportError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    with suppress(ImportError):  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
