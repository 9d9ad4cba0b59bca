"""What a cell of rotations can save at most in a pose that is best at a given pair (mathematics.md, section 9.5).

Seen from pair i, the hub, every other pair is a spoke: p = x_j − x_i and q = y_j − y_i. Of the residuals the
translation drops out, q − R p = r_j − r_i, and where none is shorter than that of the hub each is at least half as long
as that. While R runs through a cell, R p stays in a cap of the sphere of radius |p|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.losses import CM, TEAR
from tear3d.prove.bounds.voters import ONE, ZERO, F
from tear3d.prove.domains.allowed import charted, turns_allowed
from tear3d.prove.domains.rotations import FACES, cell_frame

THIRDS = 3
"""Cells a side of a face, at the first level, ..."""
ROOTS = FACES * THIRDS**3
"""... in all, ..."""
TABLE = 3
"""... and the levels of which they are described once (free choice)."""
ROWS, KNOWN = 8, 13
ROUNDING = F(64.0 * 2.0**-24)
"""Of the square of a distance, in units of |p|² + |q|², and of lengths in units of |p| + |q|: section 9.5 counts 55."""
STEP_UP = 1.01
"""One step up, and the rounding of a saving in steps."""


class Reach(NamedTuple):
    """What is the same for all hubs."""

    xi: float
    """Of all pairs, with the rounding of a residual."""
    loss: int
    steps: int
    """The most that each saves."""
    limit: int
    """Steps up to which a pose is of no interest."""
    levels: int
    """Of the cells that are not split any more."""


class Spokes(NamedTuple):
    """Work space of a thread."""

    rows: NDArray[np.float32]
    """For each level p (3), q (3), |p| |q| and |p|² + |q|², ..."""
    index: NDArray[np.int32]
    """... and which pairs they are."""
    squares: NDArray[np.float32]
    steps: NDArray[np.int32]
    chosen: NDArray[np.int32]
    counts: NDArray[np.int64]
    """Spokes of each level."""
    stack: NDArray[np.int64]
    """Cells: level, and three numbers of g."""
    table: NDArray[np.float32]
    """What is known of the cells of the first levels, see `_describe`, ..."""
    cell: NDArray[np.float32]
    """... and of another one."""


def make_spokes(most: int, levels: int) -> Spokes:
    return Spokes(
        np.empty((levels + 1, ROWS, most), np.float32),
        np.empty((levels + 1, most), np.int32),
        np.empty(most, np.float32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.zeros(levels + 1, np.int64),
        np.empty((7 * levels + 8, 4), np.int64),
        np.zeros((ROOTS * ((8 ** min(TABLE, levels + 1) - 1) // 7), KNOWN), np.float32),
        np.empty(KNOWN, np.float32),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _describe(level, face, a, b, c, allowed, out):
    """Of cell (a, b, c) of a face with 3·2^level cells a side: the rotation of the centre, cosine and sine of the
    largest angle to it, minus the cosine of twice that, and whether any of its rotations is allowed."""
    size = 2.0 / (THIRDS << level)
    low = (-1.0 + a * size, -1.0 + b * size, -1.0 + c * size)
    high = (-1.0 + (a + 1) * size, -1.0 + (b + 1) * size, -1.0 + (c + 1) * size)
    frame = cell_frame(face, low, high)
    out[12] = 1.0
    if allowed is not None:
        frame = charted(frame, allowed.chart)
        out[12] = 1.0 if turns_allowed(allowed, frame) else 0.0
    for k in range(9):
        out[k] = frame.rotation[k] / frame.inward
    out[9], out[10], out[11] = frame.cosine, frame.sine, 1.0 - 2.0 * frame.cosine * frame.cosine


@njit(cache=True, nogil=True)
def _describe_all(allowed, table):
    """Fill a table, one level after the other."""
    first = level = 0
    while first < table.shape[0]:
        side = THIRDS << level
        for k in range(FACES * side**3):
            _describe(level, k // side**3, k // side**2 % side, k // side % side, k % side, allowed, table[first + k])
        first, level = first + FACES * side**3, level + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(rows, members, hub, most, out, index):
    """Write the spokes whose lengths differ by at most `most`; returns how many there are."""
    x0, x1, x2, y0, y1, y2 = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    a0, a1, a2, b0, b1, b2 = x0[hub], x1[hub], x2[hub], y0[hub], y1[hub], y2[hub]
    most = F(most)
    count = 0
    for k in range(members.size):
        j = members[k]
        p0, p1, p2 = x0[j] - a0, x1[j] - a1, x2[j] - a2
        q0, q1, q2 = y0[j] - b0, y1[j] - b1, y2[j] - b2
        pp, qq = p0 * p0 + p1 * p1 + p2 * p2, q0 * q0 + q1 * q1 + q2 * q2
        p, q = np.sqrt(pp), np.sqrt(qq)
        out[0, count], out[1, count], out[2, count] = p0, p1, p2
        out[3, count], out[4, count], out[5, count] = q0, q1, q2
        out[6, count], out[7, count], index[count] = p * q, pp + qq, j
        count += (abs(p - q) <= most + ROUNDING * (p + q)) & (j != hub)
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def reaches(allowed, cell, x, y, xi):
    """Whether a pose with a rotation of a cell that puts a hub to within ξ of its place may be near enough to the place
    of the prior: to that the prior's point is a spoke like any other (section 12.4)."""
    p, q, pp, qq, d = allowed.point, allowed.place, 0.0, 0.0, 0.0
    for k in range(3):
        pp, qq = pp + (p[k] - x[k]) ** 2, qq + (q[k] - y[k]) ** 2
        for j in range(3):
            d += cell[3 * k + j] * (p[j] - x[j]) * (q[k] - y[k])
    a = np.sqrt(pp * qq)
    near = d * cell[9] + np.sqrt(max(0.0, pp * qq - d * d)) * cell[10]
    if d <= -a * cell[9]:
        near = a * cell[11]
    elif d >= a * cell[9]:
        near = a
    far = allowed.distance + allowed.margin + xi
    return (pp + qq) * (1.0 - ROUNDING) - 2.0 * near <= far * far


@njit(cache=True, nogil=True, error_model="numpy")
def _square_distances(spokes, count, cell, squares):
    """How far q is at least from R p, squared, while R runs through a cell."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7], cell[8]
    cosine, sine, opposite, two = cell[9], cell[10], cell[11], F(2.0)
    p0, p1, p2, q0, q1, q2 = spokes[0], spokes[1], spokes[2], spokes[3], spokes[4], spokes[5]
    product, both = spokes[6], spokes[7]
    for j in range(count):
        d = (r0 * p0[j] + r1 * p1[j] + r2 * p2[j]) * q0[j]
        d += (r3 * p0[j] + r4 * p1[j] + r5 * p2[j]) * q1[j]
        d += (r6 * p0[j] + r7 * p1[j] + r8 * p2[j]) * q2[j]
        a = product[j]
        rest = a * a - d * d
        rest = rest if rest > ZERO else ZERO
        # |p| |q| times the cosine of the least angle between q and R p.
        near = d * cosine + np.sqrt(rest) * sine
        near = near if d > -a * cosine else a * opposite
        near = near if d < a * cosine else a
        square = both[j] - two * near - ROUNDING * both[j]
        squares[j] = square if square > ZERO else ZERO


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(squares, count, reach, steps):
    """What each spoke saves at most, in steps; returns the sum."""
    full, most = F(reach.steps + STEP_UP), F(4.0 * reach.xi * reach.xi)
    slope = F(reach.steps / (2.0 * reach.xi)) if reach.loss == TEAR else F(reach.steps / (4.0 * reach.xi * reach.xi))
    if reach.loss == TEAR:
        for j in range(count):
            saved = full - slope * np.sqrt(squares[j])
            steps[j] = np.int32(saved if saved > ONE else ZERO)
    elif reach.loss == CM:
        for j in range(count):
            steps[j] = np.int32(full if squares[j] <= most else ZERO)
    else:
        for j in range(count):
            saved = full - slope * squares[j]
            steps[j] = np.int32(saved if saved > ONE else ZERO)
    total = np.int32(0)
    for j in range(count):
        total += steps[j]
    return total


@njit(cache=True, nogil=True)
def _pass_on(spokes, level):
    """Copy the spokes of a level that save something to the next."""
    steps, chosen, found = spokes.steps, spokes.chosen, 0
    for j in range(spokes.counts[level]):
        chosen[found] = j
        found += steps[j] > 0
    for row in range(ROWS):
        source, target = spokes.rows[level, row], spokes.rows[level + 1, row]
        for k in range(found):
            target[k] = source[chosen[k]]
    for k in range(found):
        spokes.index[level + 1, k] = spokes.index[level, chosen[k]]
    spokes.counts[level + 1] = found


@njit(cache=True, nogil=True)
def search_spokes(rows, members, hubs, reach, allowed, spokes, found, left):
    """The smallest cells in which a pose may save more than the limit with some members and be best at one of them.

    Parameters
    ----------
    rows : (6, n) float32 array
        x and y.
    members : int32 array
        The pairs that count.
    hubs : (start, stop)
        Which of them are hubs.
    reach : Reach
    allowed : Allowed or None
        The poses that are allowed, if not all.
    spokes : Spokes
    found : (room, 5) int64 array
        Hub, face, and three numbers of g of each such cell.
    left : (n,) uint8 array
        Set to 1 for the members that can save something in one of them.

    Returns
    -------
    cells, visits : int
        How many were found, more than there is room for when the search was broken off, and spokes looked at.
    """
    stack, counts, table = spokes.stack, spokes.counts, spokes.table
    if table[0, 0] == ZERO:
        _describe_all(allowed, table)
    ends = visits = 0
    for number in range(hubs[0], hubs[1]):
        hub = members[number]
        counts[0] = _gather(rows, members, hub, 2.0 * reach.xi, spokes.rows[0], spokes.index[0])
        visits += members.size
        for root in range(ROOTS):
            face, rest, top = root // THIRDS**3, root % THIRDS**3, 1
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, rest // 9, rest // 3 % 3, rest % 3
            while top > 0:
                top -= 1
                level, a, b, c = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
                count, side, cell = counts[level], THIRDS << level, spokes.cell
                if level < TABLE:
                    cell = table[ROOTS * ((8**level - 1) // 7) + ((face * side + a) * side + b) * side + c]
                else:
                    _describe(level, face, a, b, c, allowed, cell)
                if allowed is not None:
                    x, y = (rows[0, hub], rows[1, hub], rows[2, hub]), (rows[3, hub], rows[4, hub], rows[5, hub])
                    if cell[12] == ZERO or not reaches(allowed, cell, x, y, reach.xi):
                        continue
                visits += count
                _square_distances(spokes.rows[level], count, cell, spokes.squares)
                if reach.steps + 1 + _weigh(spokes.squares, count, reach, spokes.steps) <= reach.limit:
                    continue
                if level == reach.levels:
                    if ends == found.shape[0]:
                        return ends + 1, visits
                    found[ends, 0], found[ends, 1] = hub, face
                    found[ends, 2], found[ends, 3], found[ends, 4] = a, b, c
                    ends += 1
                    left[hub] = 1
                    for j in range(count):
                        if spokes.steps[j] > 0:
                            left[spokes.index[level, j]] = 1
                    continue
                below = level + 1
                _pass_on(spokes, level)
                for child in range(8):
                    stack[top, 0], stack[top, 1] = below, 2 * a + child // 4
                    stack[top, 2], stack[top, 3] = 2 * b + child // 2 % 2, 2 * c + child % 2
                    top += 1
    return ends, visits
