"""Pairs of clouds that belong together, and pairs that have nothing in common."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import scans
from benchmarks.scans import FloatArray, Scan
from tear3d.synthetic import random_rotation

UNRELATED = 300
GENERATED = 20
PATCHWORK = 4000
"""Points: with fewer, blocks are hardly larger than the voxels."""
_POINTS = 12_000

Made = tuple[FloatArray, FloatArray, FloatArray | None]


@dataclass(frozen=True)
class Case:
    """Two clouds to register; `make` gives source, target and the true pose, None when there is none."""

    kind: str
    name: str
    make: Callable[[], Made]
    related: bool = False


def cases(folder: Path | None) -> list[Case]:
    """Generated ones, and those that the real data gives."""
    found = list(_generated())
    if folder is not None:
        every, together = scans.read(folder)
        found += [
            Case("scans of a place", f"{pair.source.name} {pair.target.name}", partial(_as_they_are, pair), True)
            for pair in together
        ]
        found += _unrelated(every)
        distinct = list({scan.points.tobytes(): scan for scan in every}.values())[:: max(1, len(every) // 30)]
        found += [Case("mirrored scan", scan.name, partial(_mirrored, scan)) for scan in distinct]
        dense = [scan for scan in distinct if len(scan.points) >= PATCHWORK]
        found += [Case("shuffled patches", scan.name, partial(_shuffled, scan)) for scan in dense]
    return found


def _as_they_are(pair: scans.Together) -> Made:
    return pair.source.points, pair.target.points, pair.truth


def _unrelated(every: list[Scan]) -> Iterator[Case]:
    """Two of three show things of the same kind, which is harder: rooms, streets, objects."""
    pairs = [(a, b) for k, a in enumerate(every) for b in every[k + 1 :] if a.elsewhere(b)]
    alike = [pair for pair in pairs if pair[0].kind == pair[1].kind]
    unlike = [pair for pair in pairs if pair[0].kind != pair[1].kind]
    rng = np.random.default_rng(1)
    for group, share in ((alike, 2 * UNRELATED // 3), (unlike, UNRELATED - 2 * UNRELATED // 3)):
        for k in rng.permutation(len(group))[:share]:
            a, b = group[k]
            kind = f"different {a.kind}s" if a.kind == b.kind else "different kinds"
            yield Case(kind, f"{a.name} {b.name}", partial(_scaled, a, b))


def _scaled(source: Scan, target: Scan) -> Made:
    """The source, grown about its origin to the size of the target and turned: the sensor stays where it was."""
    grown = source.points * (_size(target.points) / _size(source.points))
    return grown @ random_rotation(_random(source.name, target.name)).T, target.points, None


def _mirrored(scan: Scan) -> Made:
    turn = random_rotation(_random(scan.name))
    return (scan.points * [-1.0, 1.0, 1.0]) @ turn.T, scan.points, None


def _shuffled(scan: Scan) -> Made:
    """A scan cut into blocks, which change places and are turned: all surfaces are there, and no arrangement.

    No block has more than a twentieth of the points: with one that has a third, a third would truly fit. And they are
    not put where exactly another one was: then all would fit, but for the insides of small blocks.
    """
    rng = _random("shuffled", scan.name)
    edge, largest = 2.0 * _size(scan.points), len(scan.points)
    while largest > len(scan.points) / 20:
        edge *= 0.8
        cells, block, counts = np.unique(np.floor(scan.points / edge), axis=0, return_inverse=True, return_counts=True)
        largest = counts.max()
    centres = (cells + 0.5) * edge
    moved = np.empty_like(scan.points)
    for k, other in enumerate(rng.permutation(len(cells))):
        rows = block.ravel() == k
        moved[rows] = (scan.points[rows] - centres[k]) @ random_rotation(rng).T + centres[other]
        moved[rows] += rng.uniform(-0.5, 0.5, 3) * edge
    return moved, scan.points, None


def _generated() -> Iterator[Case]:
    for k in range(GENERATED):
        yield Case("generated, the same", f"object {k}", partial(_parts, k), True)
        yield Case("generated, the same", f"room {k}", partial(_views, k), True)
        yield Case("generated, different", f"objects {k}", partial(_other_objects, k))
        yield Case("generated, different", f"rooms {k}", partial(_other_rooms, k))


def _parts(k: int) -> Made:
    """Two overlapping parts of an object, sampled anew."""
    rng = _random("parts", str(k))
    first, second = _bumpy(k, 0), _bumpy(k, 1)
    across = random_rotation(rng)[0]
    low, high = np.quantile(first @ across, [0.25, 0.75])
    truth = _pose(random_rotation(rng), rng.normal(size=3))
    return first[first @ across > low], _moved(truth, second[second @ across < high]), truth


def _views(k: int) -> Made:
    """Two scans of a room from different places."""
    (first, from_first), (second, from_second) = _scan(k, 0), _scan(k, 1)
    turn = random_rotation(_random("views", str(k)))
    truth = _pose(turn, turn @ (from_first - from_second))
    return first, second @ turn.T, truth


def _other_objects(k: int) -> Made:
    return _bumpy(100 + k, 0), _bumpy(200 + k, 0) @ random_rotation(_random("objects", str(k))).T, None


def _other_rooms(k: int) -> Made:
    return _scan(100 + k, 0)[0], _scan(200 + k, 0)[0] @ random_rotation(_random("rooms", str(k))).T, None


def _pose(turn: FloatArray, shift: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, shift
    return pose


def _moved(pose: FloatArray, points: FloatArray) -> FloatArray:
    return points @ pose[:3, :3].T + pose[:3, 3]


def _bumpy(k: int, sample: int) -> FloatArray:
    """A sphere with bumps and dents."""
    rng = np.random.default_rng(k)
    centres = rng.normal(size=(20, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    heights, widths = rng.uniform(-0.4, 0.6, 20), rng.uniform(5.0, 30.0, 20)
    directions = np.random.default_rng((k, sample)).normal(size=(_POINTS, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * (1.0 + np.exp(widths * (directions @ centres.T - 1.0)) @ heights)[:, None]


def _scan(k: int, sample: int) -> tuple[FloatArray, FloatArray]:
    """What a sensor in a room with boxes sees, around the sensor, and where it stood."""
    rng, draw = np.random.default_rng(k), np.random.default_rng((k, sample))
    size = rng.uniform([3.0, 2.5, 2.0], [5.0, 4.0, 2.6])
    boxes = [(np.zeros(3), size)]
    for _ in range(8):
        extent = rng.uniform([0.3, 0.3, 0.3], [1.2, 1.0, 1.6])
        boxes.append((np.append(rng.uniform(0.0, size[:2] - extent[:2]), 0.0), extent))
    eye = np.array([*(draw.uniform(0.3, 0.7, 2) * size[:2]), 1.8])
    areas = [2.0 * (e[0] * e[1] + e[1] * e[2] + e[0] * e[2]) for _, e in boxes]
    counts = draw.multinomial(2 * _POINTS, np.array(areas) / sum(areas))
    points = np.concatenate([_box(corner, extent, n, draw) for (corner, extent), n in zip(boxes, counts, strict=True)])
    for corner, extent in boxes[1:]:
        points = points[~_behind(points, eye, corner, extent)]
    return points + draw.normal(0.0, 0.004, points.shape) - eye, eye


def _behind(points: FloatArray, eye: FloatArray, corner: FloatArray, extent: FloatArray) -> NDArray[np.bool_]:
    """Which points a box hides: the ray enters it well before it gets there."""
    with np.errstate(divide="ignore"):
        ways = (np.stack((corner, corner + extent)) - eye)[:, None] / (points - eye)
    enters, leaves = ways.min(axis=0).max(axis=1), ways.max(axis=0).min(axis=1)
    return np.asarray((enters < leaves - 1e-9) & (enters > 0.0) & (enters < 1.0 - 1e-6))


def _box(corner: FloatArray, extent: FloatArray, count: int, draw: np.random.Generator) -> FloatArray:
    areas = np.prod(extent) / extent
    axis = draw.choice(3, count, p=areas / areas.sum())
    points = draw.uniform(0.0, extent, (count, 3))
    points[np.arange(count), axis] = draw.integers(0, 2, count) * extent[axis]
    return points + corner


def _size(points: FloatArray) -> float:
    return float(np.median(np.linalg.norm(points - np.median(points, axis=0), axis=1)))


def _random(*names: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(" ".join(names).encode()))
