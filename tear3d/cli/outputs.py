"""What a command writes: checked before the work, written after it."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tear3d.cli.folder import Run


PAGES = (".html", ".htm")
DOCUMENTS = (".pdf", ".png", ".jpg", ".zip", ".json", ".g2o", ".md", ".log")


@dataclass(frozen=True)
class Outputs:
    """The options --out, --report, --pose and --g2o."""

    out: Path | None = None
    report: Path | None = None
    pose: Path | None = None
    g2o: Path | None = None

    @property
    def folder(self) -> Path | None:
        return self.out if self.out is not None and self.out.suffix.lower() != ".json" else None

    @property
    def files(self) -> list[Path]:
        single = self.out if self.folder is None else None
        return [path for path in (single, self.report, self.pose, self.g2o) if path is not None]

    def check(self, inputs: Sequence[Path]) -> None:
        """Refuse what cannot or must not be written before the work, not after it."""
        from tear3d.errors import InputError

        for path in inputs:
            check_input(path)
        taken = {_real(path): "one of the inputs" for path in inputs}
        for path in self.files:
            check_file(path)
            if _real(path) in taken:
                raise InputError(f"{path}: is {taken[_real(path)]}; pass another name")
            taken[_real(path)] = "the name of another output"
        check_page(self.report)
        if self.folder is None:
            return
        from tear3d.cli.folder import check_folder

        check_folder_name(self.folder)
        check_parent(self.folder)
        check_folder(self.folder)
        for path in (*inputs, *self.files):
            if _real(path).is_relative_to(_real(self.folder)):
                raise InputError(f"{path}: lies in the folder {self.folder}, which --out replaces as a whole")

    @property
    def recorded(self) -> bool:
        """Whether it is written down how the run came about."""
        return self.folder is not None or self.report is not None

    def describe(self, inputs: Sequence[Path]) -> list[dict[str, Any]]:
        """Name, size and fingerprint of the inputs, if they are going to be recorded."""
        if not self.recorded:
            return []
        from tear3d.cli.folder import sha256

        return [{"path": str(path), "bytes": path.stat().st_size, "sha256": sha256(path)} for path in inputs]

    def write(self, run: Run, settings: dict[str, Any], log: str) -> list[tuple[str, str]]:
        """Write everything asked for, and return the names, with what is in them."""
        from tear3d.cli.folder import to_json, write_folder
        from tear3d.io.atomic import atomic_write
        from tear3d.io.poses import write_pose

        written = [(str(path), "") for path in self.files]
        for path in self.files:
            path.parent.mkdir(parents=True, exist_ok=True)
        if self.report is not None:
            run.write_report(self.report)
        if self.pose is not None:
            write_pose(self.pose, run.transformation)
        if self.g2o is not None and not _write_edge(self.g2o, run):
            written.remove((str(self.g2o), ""))
        if self.folder is not None:
            names = write_folder(self.folder, run, settings, log)
            written.append((f"{self.folder}{os.sep}", f" ({', '.join(names)})"))
        elif self.out is not None:
            with atomic_write(self.out) as file:
                file.write(to_json(run.summary).encode())
        return written


def _write_edge(path: Path, run: Run) -> bool:
    """Whether there was a covariance to write."""
    from tear3d.errors import InputError
    from tear3d.io.atomic import atomic_write
    from tear3d.io.g2o import g2o_edge

    try:
        edge = g2o_edge(run.transformation, run.covariance)
    except InputError as error:
        logging.getLogger("tear3d").warning("%s is not written: %s", path, error)
        return False
    with atomic_write(path) as file:
        file.write(f"{edge}\n".encode())
    return True


def check_input(path: Path) -> None:
    """Refuse a folder where a file is to be read."""
    from tear3d.errors import InputError

    if path.is_dir():
        raise InputError(f"{path}: is a folder; pass a file")


def check_page(path: Path | None) -> None:
    """Refuse a name that promises something else than a page."""
    from tear3d.errors import InputError

    if path is not None and path.suffix.lower() not in PAGES:
        kind = f"{path.suffix} cannot be written" if path.suffix else "has no suffix"
        raise InputError(f"{path}: {kind}; the page is HTML, pass a name that ends in .html")


def check_folder_name(path: Path) -> None:
    """Refuse the name of a file where a folder is going to be written."""
    from tear3d.errors import InputError
    from tear3d.io.clouds import MODULES

    suffix = path.suffix.lower()
    if path.exists():
        return
    if suffix in PAGES:
        raise InputError(f"{path}: is the name of a page, and --out writes a folder; the page is in it")
    if suffix in DOCUMENTS or suffix in MODULES:
        raise InputError(
            f"{path}: is the name of a {suffix} file, and --out writes a folder; pass a name without suffix"
        )


def check_new(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name that cannot become a file, or that is already the name of one that is read."""
    from tear3d.errors import InputError

    check_file(path)
    if _real(path) in map(_real, inputs):
        raise InputError(f"{path}: is one of the inputs; pass another name")


def check_file(path: Path) -> None:
    """Refuse a name that cannot become a file."""
    from tear3d.errors import InputError

    if path.is_dir():
        raise InputError(f"{path}: is a folder; pass the name of a file")
    check_parent(path)


def check_parent(path: Path) -> None:
    """Refuse a place where nothing can be created."""
    from tear3d.errors import InputError

    parent = next(folder for folder in _real(path).parents if folder.exists())
    if not parent.is_dir():
        raise InputError(f"{path}: {parent} is not a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {parent} is not writable")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
