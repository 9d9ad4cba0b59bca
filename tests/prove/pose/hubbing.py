"""Small problems looked at about one pair after the other, and where a pose must then be."""

from __future__ import annotations

from contextlib import contextmanager
from unittest import mock

import numpy as np

from tear3d.problem.limits import Limits
from tear3d.prove.pose import hubs
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, everywhere
from tear3d.prove.pose.points import pack
from tests.naive import chart_point


@contextmanager
def small_hubs(rng):
    """While the block runs, small problems fit, in parts of any size and cells of any depth: all free choices."""
    choices = {
        "FEWEST_PAIRS": 4,
        "RARE": 1.0,
        "FEWEST_MEMBERS": 4,
        "WORTH": float(rng.choice([2.0, 5.0, 1e9])),
        "SMALL": float(rng.choice([1.5, 6.0, 20.0])),
        "DEEPEST": int(rng.integers(5)),
    }
    with mock.patch.multiple(hubs, **choices):
        yield


def nodes_for(pairs, loss, sifted):
    """The nodes that a search begins with, and the pairs as it has them."""
    packed = pack(pairs.take(sifted.index), loss, sifted.cells.pose)
    return packed, hubs.nodes_of(packed, sifted.cells, everywhere(packed.low, packed.high, packed.ceiling), Limits())


def is_in_a_node(packed, nodes, pose) -> bool:
    """Whether a pose is in one of them, up to a rounding."""
    face, g = chart_point(packed.chart.T @ pose.rotation @ packed.rotation.T)
    t = pose.translation - packed.shift + pose.rotation @ packed.mean
    slack = 1e-9 * (1.0 + np.abs(t).max())
    low, high = nodes[:, LOW : LOW + 6], nodes[:, HIGH : HIGH + 6]
    place = np.array([*g, *t])
    inside = np.all((low - slack <= place) & (place <= high + slack), axis=1)
    at_edge = np.abs(g).max() > 1.0 - 1e-6  # then another face may hold it
    return bool(np.any(inside & ((nodes[:, FACE] == face) | at_edge)))
