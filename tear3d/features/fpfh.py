"""Fast Point Feature Histograms (Rusu, Blodow, Beetz, ICRA 2009), with Open3D's conventions.

A point's simplified histogram (SPFH) counts three angles between its normal and those of its neighbours, 11
bins each; the FPFH adds the neighbours' SPFH weighted by inverse squared distance and normalised to 100.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.neighbours import Neighbours, rows_at_once, search, tree_of
from tear3d.features.steps import Tick, part_of
from tear3d.features.work import in_chunks
from tear3d.problem.arrays import FloatArray

# Neighbour lists are kept between the two passes while they fit in this many bytes, else searched twice.
_KEEP_BYTES = 400e6


def fpfh(
    points: FloatArray,
    normals: FloatArray,
    radius: float,
    max_nn: int = 100,
    *,
    threads: int | None = None,
    tick: Tick | None = None,
) -> NDArray[np.float32]:
    """FPFH descriptors of every point.

    Parameters
    ----------
    points, normals : (N, 3) arrays
    radius : float
        Neighbours farther than this are ignored; customary is 5 times the voxel size.
    max_nn : int
        At most this many points, the point itself included, make a neighbourhood.
    threads : int, optional
    tick : callable, optional
        Told the fraction that is done, now and then; what it raises ends the call.

    Returns
    -------
    (N, 33) float32 array
        Zero for a point without neighbours.
    """
    points = np.asarray(points, dtype=np.float64)
    normals = np.ascontiguousarray(normals, dtype=np.float64)
    if normals.shape != points.shape:
        raise InputError(f"normals has shape {normals.shape}: expected that of points, {points.shape}")
    if not radius > 0.0 or max_nn < 2:
        raise InputError(f"radius {radius} and max_nn {max_nn}: expected a positive radius and at least 2")
    out = np.zeros((len(points), 33), dtype=np.float32)
    if len(points) < 2:
        return out
    tree = tree_of(points, tick)
    spfh = np.zeros(out.shape, dtype=np.float32)  # zeros_like would write them all
    keep = len(points) * min(max_nn, len(points)) * 8 <= _KEEP_BYTES
    kept: dict[int, Neighbours] = {}

    def simplify(start: int, stop: int) -> None:
        found = search(tree, start, stop, radius, max_nn)
        if keep:
            kept[start] = found
        _simplified(tree.data, normals, start, found[0], spfh[start:stop])

    def combine(start: int, stop: int) -> None:
        found = kept.pop(start) if keep else search(tree, start, stop, radius, max_nn)
        _combined(spfh, start, *found, out[start:stop])

    rows = rows_at_once(max_nn)
    in_chunks(simplify, len(points), threads, chunk=rows, tick=part_of(tick, 0.0, 0.5))
    in_chunks(combine, len(points), threads, chunk=rows, tick=part_of(tick, 0.5, 1.0))
    return out


@njit(cache=True, nogil=True)
def _bin(fraction):
    return min(max(math.floor(11.0 * fraction), 0), 10)


@njit(cache=True, nogil=True)
def _simplified(points, normals, start, indices, out):
    """SPFH of points start, start + 1, ...; Darboux frame u, v, w of Rusu et al., eq. 1 and 2."""
    rows, k = indices.shape
    for row in range(rows):
        count = 0
        while count < k and indices[row, count] >= 0:
            count += 1
        if count < 2:
            continue
        i = start + row
        step = 100.0 / (count - 1)
        for place in range(1, count):
            j = indices[row, place]
            dx = points[j, 0] - points[i, 0]
            dy = points[j, 1] - points[i, 1]
            dz = points[j, 2] - points[i, 2]
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            theta = alpha = phi = 0.0
            if length > 0.0:
                a, b = i, j
                phi = (normals[i, 0] * dx + normals[i, 1] * dy + normals[i, 2] * dz) / length
                other = (normals[j, 0] * dx + normals[j, 1] * dy + normals[j, 2] * dz) / length
                # The frame belongs to the point whose normal is nearer to the line between the two.
                if abs(phi) < abs(other):
                    a, b = j, i
                    dx, dy, dz = -dx, -dy, -dz
                    phi = -other
                ux, uy, uz = normals[a, 0], normals[a, 1], normals[a, 2]
                nx, ny, nz = normals[b, 0], normals[b, 1], normals[b, 2]
                vx = dy * uz - dz * uy
                vy = dz * ux - dx * uz
                vz = dx * uy - dy * ux
                norm = math.sqrt(vx * vx + vy * vy + vz * vz)
                if norm > 0.0:
                    vx /= norm
                    vy /= norm
                    vz /= norm
                    wx = uy * vz - uz * vy
                    wy = uz * vx - ux * vz
                    wz = ux * vy - uy * vx
                    alpha = vx * nx + vy * ny + vz * nz
                    theta = math.atan2(wx * nx + wy * ny + wz * nz, ux * nx + uy * ny + uz * nz)
                else:
                    phi = 0.0
            out[row, _bin((theta + math.pi) / (2.0 * math.pi))] += step
            out[row, 11 + _bin(0.5 * (alpha + 1.0))] += step
            out[row, 22 + _bin(0.5 * (phi + 1.0))] += step


@njit(cache=True, nogil=True)
def _combined(spfh, start, indices, squared, out):
    """FPFH from the SPFH of a point and its neighbours, eq. 3 of Rusu et al."""
    rows, k = indices.shape
    total = np.empty(33)
    for row in range(rows):
        for b in range(33):
            total[b] = 0.0
        place = 1
        while place < k and indices[row, place] >= 0:
            if squared[row, place] > 0.0:
                weight = 1.0 / squared[row, place]
                j = indices[row, place]
                for b in range(33):
                    total[b] += weight * spfh[j, b]
            place += 1
        for part in range(0, 33, 11):
            mass = 0.0
            for b in range(part, part + 11):
                mass += total[b]
            scale = 100.0 / mass if mass > 0.0 else 0.0
            for b in range(part, part + 11):
                out[row, b] = spfh[start + row, b] + scale * total[b]
