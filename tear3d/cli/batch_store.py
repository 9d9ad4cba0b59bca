"""The folder of a batch: one file for each pair that is done, complete or not there, and one batch at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tear3d
from tear3d.cli.batch_lock import LOCK, WORKERS, alone_in, stamp
from tear3d.cli.folder import TOOL, sha256, to_json
from tear3d.cli.manifest import Job
from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write

MARK, PAIRS = "batch.json", "pairs"
_KEY = 16
"""Hexadecimal digits of a fingerprint in the name of a file: among a million, two agree once in 10⁷ batches."""


class Store:
    """Where results are, by the content of what they were found from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = ""
        """Of the batch that has it open, for its workers."""
        self._digests: dict[Path, tuple[tuple[int, int], str]] = {}

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, or go on in one of an earlier batch; nobody else may until the block ends."""
        self._refuse_foreign()
        (self.folder / PAIRS).mkdir(parents=True, exist_ok=True)
        with alone_in(self.folder) as self.token:
            for place in (self.folder, self.folder / PAIRS):  # half files of one that was killed
                for left in place.glob(".*.tmp"):
                    left.unlink(missing_ok=True)
            if not (self.folder / MARK).exists():
                self.write(MARK, to_json({"tool": TOOL, "command": "batch"}))
            yield

    def write(self, name: str, text: str) -> None:
        write_whole(self.folder / name, text)

    def inputs(self, job: Job) -> list[dict[str, Any]]:
        """Path, size and fingerprint of its files; each file is read once, unless it changes."""
        return [self._facts(file) for file in job.files]

    def place(self, job: Job, inputs: Sequence[dict[str, Any]]) -> Path:
        """The file of its result: other contents, options or versions have another."""
        contents = [each["sha256"] for each in inputs]
        facts = [job.name, contents, sorted(job.options.items()), tear3d.__version__]
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_KEY]
        return self.folder / PAIRS / f"{job.slug}-{key}.json"

    def _facts(self, file: Path) -> dict[str, Any]:
        state = stamp(file)
        known = self._digests.get(file)
        if known is None or known[0] != state:
            known = self._digests[file] = state, sha256(file)
            if stamp(file) != state:
                raise OSError(f"{file} changes while it is read")
        return {"path": str(file), "bytes": state[0], "changed_ns": state[1], "sha256": known[1]}

    def _refuse_foreign(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: is a file; pass the name of a folder")
        names = {entry.name for entry in self.folder.iterdir() if not entry.name.endswith(".tmp")}
        made = {LOCK, WORKERS, PAIRS}  # before the mark
        if names <= made:
            return
        try:
            mark = json.loads((self.folder / MARK).read_text("utf-8"))
            ours = mark["tool"] == TOOL and mark["command"] == "batch"
        except (OSError, ValueError, KeyError, TypeError):
            ours = False
        if not ours:
            other = sorted(names - made)[0]
            raise InputError(f"{self.folder}: holds {other}, not written by a batch; pass a new or empty folder")


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing; a disk that is full is told with the name of the file."""
    try:
        with atomic_write(path) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def load(path: Path) -> dict[str, Any] | None:
    """A result that is there and whole."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "result" in found else None
