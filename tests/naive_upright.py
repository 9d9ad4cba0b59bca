"""The slow, obvious twin of the search for poses when the vertical is known."""

import math

import numpy as np


def agrees(points, p, j, tolerance, lean, shifts):
    """Whether pair j is as far from pivot p in the target as in the source, and as much higher; or shifted alike."""
    dx, dy = points[:3, j] - points[:3, p], points[3:6, j] - points[3:6, p]
    room = tolerance * (points[6, j] + points[6, p])
    if shifts:
        return np.linalg.norm(dy - dx) <= 2.0 * room
    a, b = np.linalg.norm(dx), np.linalg.norm(dy)
    return a > room and abs(a - b) <= room and abs(dy[2] - dx[2]) <= room + lean * a


def turned(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def best_upright(points, p, tolerance):
    """The turn about the vertical, and the shift, with which most pairs agree that agree with a pivot: tried one pair
    after the other."""
    near = [j for j in range(points.shape[1]) if j != p and agrees(points, p, j, tolerance, 0.0, False)]
    best, found = -1, None
    for j in near:
        u, v = points[:2, j] - points[:2, p], points[3:5, j] - points[3:5, p]
        rotation = turned(math.atan2(u[0] * v[1] - u[1] * v[0], u @ v))
        shift = points[3:6, p] - rotation @ points[:3, p]
        apart = points[3:6, near] - rotation @ points[:3, near] - shift[:, None]
        count = int(np.count_nonzero(np.linalg.norm(apart, axis=0) <= points[6, near]))
        if count > best:
            best, found = count, (rotation, shift)
    return best, found
