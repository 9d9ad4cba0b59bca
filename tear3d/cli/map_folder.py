"""The folder of a map: everything about it, complete or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tear3d.cli.folder import SETTINGS, TOOL, _replaced, _write_text, check_folder, to_json
from tear3d.cli.outputs import check_folder_name, check_parent
from tear3d.cli.readme import NAME, readme
from tear3d.errors import InputError
from tear3d.mapping.files import write_coloured, write_g2o, write_trajectory
from tear3d.report.facts import versions
from tear3d.report.map import write_map_page

if TYPE_CHECKING:
    from tear3d.cli.session import Session
    from tear3d.mapping import Map


def check_map_folder(out: Path, scans: Path) -> None:
    """Refuse before the work what could not be written after it."""
    check_folder_name(out)
    check_parent(out)
    check_folder(out)
    _try_to_write(out)
    one, other = (Path(os.path.realpath(path)) for path in (out, scans))
    if other.is_relative_to(one):
        raise InputError(f"{out}: holds the scans of {scans}; pass another folder")


def _try_to_write(out: Path) -> None:
    """Rights do not tell of file systems that take no folders: a map is hours of work, so it is tried."""
    parent = next(folder for folder in Path(os.path.realpath(out)).parents if folder.exists())
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".tear3d-", dir=parent))
    except OSError as error:
        raise InputError(f"{out}: nothing can be written to {parent}: {error.strerror}") from error


def write_map_folder(out: Path, found: Map, session: Session, voxel_size: float | None) -> list[str]:
    """Write cloud, trajectories, graph, JSON, page, log and settings; an earlier map of that name is replaced."""
    check_folder(out)
    cloud = found.merged(voxel_size)
    with _replaced(Path(os.path.realpath(out))) as folder:
        write_coloured(folder / "map.ply", cloud)
        write_trajectory(folder / "trajectory.tum", found, "tum")
        write_trajectory(folder / "trajectory.kitti", found, "kitti")
        write_g2o(folder / "graph.g2o", found)
        _write_text(folder / "map.json", to_json(found.to_dict()))
        write_map_page(folder / "index.html", found, cloud=cloud, title=out.name)
        _write_text(folder / "run.log", session.log)
        names = sorted([SETTINGS, NAME, *(file.name for file in folder.iterdir())])
        _write_text(folder / NAME, readme("map", names))
        inputs = [{"path": str(path)} for path in found.given.scans]
        settings = {"tool": TOOL, **session.settings(inputs), "versions": versions(), "files": names}
        _write_text(folder / SETTINGS, to_json(settings))
    return names
