"""gt.log and gt.info: the truth of a scene's pairs, as the 3DMatch and Redwood benchmarks write it.

Both are blocks of a line `i j n` (two fragments, and how many the scene has) and a matrix: 4×4 in gt.log, 6×6 in
gt.info. The 4×4 matrix maps fragment j into the frame of fragment i (redwood-data.org/indoor/registration.html), so j
is the source and i the target.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.real_pairs import FloatArray
from tear3d.errors import FileFormatError, InputError

Pairs = dict[tuple[int, int], FloatArray]
_TOLERANCE = 1e-2
"""Poses are stored with few digits; a reflection, a scale or a shifted line is farther off than this."""


def read_log(path: Path) -> Pairs:
    """(i, j) → the 4×4 matrix that maps fragment j to fragment i."""
    poses = _blocks(path, 4)
    for (i, j), pose in poses.items():
        poses[i, j] = rigid(pose, f"{path}: the matrix of {i} {j}")
    return poses


def rigid(pose: FloatArray, what: str) -> FloatArray:
    """The rigid motion that a 4×4 matrix with rounded entries means; `what` is called by name if it is none."""
    rotation, shift = pose[:3, :3], pose[:3, 3]
    off = np.abs(rotation @ rotation.T - np.eye(3)).max()
    last = np.abs(pose[3] - [0.0, 0.0, 0.0, 1.0]).max()
    if not (off <= _TOLERANCE and last <= _TOLERANCE and np.isfinite(shift).all() and np.linalg.det(rotation) > 0.0):
        raise FileFormatError(f"{what} is no rigid motion: expected 4×4, a rotation and the last row 0 0 0 1")
    u, _, v = np.linalg.svd(rotation)
    motion = np.eye(4)
    motion[:3, :3], motion[:3, 3] = u @ v, shift
    return motion


def read_info(path: Path) -> Pairs:
    """(i, j) → the 6×6 information matrix of the pair."""
    return _blocks(path, 6)


def _blocks(path: Path, size: int) -> Pairs:
    rows = _numbers(path)
    found: Pairs = {}
    place = 0
    while place < len(rows):
        line, head = rows[place]
        if len(head) != 3 or not all(value.is_integer() and value >= 0 for value in head):
            raise FileFormatError(f"{path}, line {line}: expected a line `i j n` of whole numbers before each matrix")
        i, j = int(head[0]), int(head[1])
        block = rows[place + 1 : place + 1 + size]
        for at, values in block:
            if len(values) != size:
                raise FileFormatError(
                    f"{path}, line {at}: {len(values)} numbers: expected {size} in the row of a matrix"
                )
        if len(block) < size:
            raise FileFormatError(f"{path}: ends within the matrix of {i} {j}: expected {size}×{size} numbers")
        if (i, j) in found:
            raise FileFormatError(f"{path}, line {line}: the pair {i} {j} is there twice")
        found[i, j] = np.array([values for _, values in block])
        place += 1 + size
    if not found:
        raise FileFormatError(f"{path}: is empty: expected blocks of `i j n` and a {size}×{size} matrix")
    return found


def _numbers(path: Path) -> list[tuple[int, list[float]]]:
    """The lines that are not blank, with their numbers from 1 on."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    rows = []
    try:
        for line, text in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
            if text.strip():
                rows.append((line, [float(word) for word in text.split()]))
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: is not text: expected blocks of `i j n` and a matrix") from error
    except ValueError as error:
        raise FileFormatError(f"{path}, line {line}: {text.strip()[:40]!r}: expected numbers only") from error
    return rows
