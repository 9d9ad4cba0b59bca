"""A made-up scan of a machine part on a table, among other things, taken from one or two places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tear3d.lab.parts import PARTS, Form, Part, box, rod
from tear3d.lab.synthetic import random_rotation

FloatArray = NDArray[np.float64]

_STEPS, _HIT, _FAR = 120, 1e-3, 3000.0
"""Of a ray: how often it is moved on at most, how near is on the surface, and where it is lost, in mm."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A model and a scan it is to be found in, in millimetres."""

    model: FloatArray = field(repr=False)
    """Points spread evenly over the whole surface of the part."""
    scan: FloatArray = field(repr=False)
    transformation: FloatArray
    """4×4, scan ← model."""
    shown: float
    """Share of the points of the scan that are the part's."""


def make_bench(
    part: str = "bracket",
    *,
    points: int = 50_000,
    spacing: float = 1.0,
    noise: float = 0.2,
    views: int = 2,
    table: float = 400.0,
    clutter: int = 0,
    seed: int = 0,
) -> Bench:
    """A part of `tear3d.lab.parts.PARTS` that stands on a square table of so many millimetres.

    Parameters
    ----------
    part : str
    points : int
        Of the model.
    spacing : float
        Between the rays of a scanner, where they meet the part.
    noise : float
        Standard deviation along the rays.
    views : int
        Places from which it is seen, 600 mm away.
    table : float
        Its side; 0 for none.
    clutter : int
        Other boxes and rods on the table.
    seed : int
        Same arguments, same bench.
    """
    rng = np.random.default_rng(seed)
    body = PARTS[part]()
    model = body.sample(points, rng)
    low, high = model.min(axis=0), model.max(axis=0)
    heading = rng.uniform(0.0, 2.0 * np.pi)
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]]
    pose[:3, 3] = -pose[:3, :3] @ [*(0.5 * (low + high))[:2], low[2]]
    pose[:2, 3] += rng.uniform(-0.1, 0.1, 2) * table

    def on_part(places: FloatArray) -> FloatArray:
        return body.distance((places - pose[:3, 3]) @ pose[:3, :3])

    rest = _around(rng, table, clutter, pose[:2, 3], float(np.linalg.norm(high - low)))
    scans = []
    first = rng.uniform(0.0, 2.0 * np.pi)
    for view in range(views):
        angle, height = first + view * 2.0 * np.pi / 3.0, rng.uniform(np.radians(25.0), np.radians(55.0))
        away = np.array([np.cos(angle) * np.cos(height), np.sin(angle) * np.cos(height), np.sin(height)])
        scans.append(_seen(600.0 * away, 0.5 * max(table, 200.0), spacing, on_part, rest, rng, noise))
    scan = np.concatenate(scans)
    shown = float(np.mean(np.abs(on_part(scan)) < 4.0 * noise + _HIT))
    # As a scanner has it: the frame of the scan is any.
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = random_rotation(rng), rng.uniform(-500.0, 500.0, 3)
    return Bench(model, scan @ frame[:3, :3].T + frame[:3, 3], frame @ pose, shown)


def _around(rng: np.random.Generator, table: float, clutter: int, place: FloatArray, size: float) -> Part | None:
    """The table and what else stands on it."""
    forms: list[Form] = []
    half = 0.5 * table
    if table > 0.0:
        forms.append(box((-half, -half, -20.0), (half, half, 0.0)))
    for _ in range(clutter):
        angle, away = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.7 * size, 1.3 * size)
        x, y = place + away * np.array([np.cos(angle), np.sin(angle)])
        a, b, c = rng.uniform(10.0, 35.0, 3)
        if rng.random() < 0.5:
            forms.append(box((x - a, y - b, -1.0), (x + a, y + b, 2.0 * c)))
        else:
            forms.append(rod((x, y, -1.0), 2, 3.0 * c, a))
    return Part(tuple(forms)) if forms else None


def _seen(
    eye: FloatArray,
    half: float,
    spacing: float,
    on_part: Callable[[FloatArray], FloatArray],
    rest: Part | None,
    rng: np.random.Generator,
    noise: float,
) -> FloatArray:
    """Where the rays of one place end, along a grid of directions, with noise along them."""
    reach = float(np.linalg.norm(eye))
    ahead = -eye / reach
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    steps = np.arange(-half, half, spacing) / reach
    across, up = (grid.ravel() for grid in np.meshgrid(steps, steps))
    rays = ahead + across[:, None] * right + up[:, None] * np.cross(right, ahead)
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    travelled, going = np.zeros(len(rays)), np.arange(len(rays))
    hit = np.zeros(len(rays), dtype=np.bool_)
    for _ in range(_STEPS):
        places = eye + travelled[going, None] * rays[going]
        free = on_part(places)
        if rest is not None:
            free = np.minimum(free, rest.distance(places))
        hit[going[free <= _HIT]] = True
        travelled[going] += np.maximum(free, 0.0)
        going = going[(free > _HIT) & (travelled[going] < _FAR)]
        if len(going) == 0:
            break
    far = travelled[hit] + rng.normal(0.0, noise, int(hit.sum()))
    return np.asarray(eye + far[:, None] * rays[hit])
