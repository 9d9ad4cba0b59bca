"""Input that no benchmark has and that must not break a system: source, target, and whether one pose fits all pairs."""

from __future__ import annotations

import numpy as np

_RNG = np.random.default_rng(0)
_POINTS = _RNG.normal(size=(120, 3))
_LINE = np.outer(np.linspace(0.0, 5.0, 60), [1.0, 2.0, 3.0])
_SAME = np.repeat(_POINTS[:1], 60, axis=0)
_FEW = np.repeat(_POINTS[:10], 6, axis=0)

ODD: dict[str, tuple[np.ndarray, np.ndarray, bool]] = {
    "none": (_POINTS[:0], _POINTS[:0], False),
    "two": (_POINTS[:2], _POINTS[:2], False),
    "three": (_POINTS[:3], _POINTS[:3] + 1.0, True),
    "three that disagree": (_POINTS[:3], 9.0 * _POINTS[3:6], False),
    "all inliers": (_POINTS, _POINTS + 1.0, True),
    "no inliers": (_POINTS, 5.0 * _RNG.normal(size=(120, 3)), False),
    "collinear": (_LINE, _LINE - 2.0, True),
    "one point": (_SAME, _SAME + 3.0, True),
    "duplicates": (_FEW, _FEW[::-1].copy(), False),
    "far from the origin": (_POINTS + 1e5, _POINTS - 1e5, True),
}
