"""What passes leave is a bound: no pose, wherever it comes from, saves more."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tear3d
from tear3d.problem.limits import Limits
from tear3d.stream.prove import PAIR_BYTES
from tests.stream.support import pieces_of, solve

CASES = ("rivals", "plane", "copies", "grid", "decades", "nothing counts")


def made(seed, case):
    """Motions of almost the same size, some close to one another, among pairs of no motion; bounds and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 260))
    source, target = rng.normal(size=(n, 3)), 1.2 * rng.normal(size=(n, 3))
    if case == "plane":
        source[:, 2] = 0.0
    elif case == "copies":
        source = source[rng.integers(0, max(3, n // 8), n)]
    elif case == "grid":
        source = np.round(3.0 * source) / 3.0
    size = max(4, int(rng.uniform(0.1, 0.3) * n))
    turn, shift = Rotation.random(random_state=rng), rng.normal(size=3)
    for rows in np.array_split(rng.permutation(n)[: 3 * size], 3):
        target[rows] = turn.apply(source[rows]) + shift + rng.normal(scale=0.01, size=(len(rows), 3))
        near = rng.random() < 0.3
        turn = (
            Rotation.from_rotvec(rng.normal(scale=0.05, size=3)) * turn if near else Rotation.random(random_state=rng)
        )
        shift = shift + rng.normal(scale=0.05 if near else 1.0, size=3)
    xi, w = np.full(n, 0.05), np.ones(n)
    if case in ("decades", "nothing counts"):
        xi, w = 0.05 * 10.0 ** rng.uniform(-0.5, 0.5, n), 10.0 ** rng.uniform(-4.0, 2.0, n)
    if case == "nothing counts":
        w[::9], xi[::11] = 0.0, 0.0
    return SimpleNamespace(source=source, target=target, noise_bound=0.05), xi, w, rng


@pytest.mark.parametrize("loss", ["tear", "tls", "cm"])
@pytest.mark.parametrize("case", CASES)
def test_nothing_saves_more(case, loss):
    proven = 0
    for seed in range(4):
        given, xi, w, rng = made(seed, case)
        n = len(xi)
        pieces = pieces_of(given, int(rng.integers(n // 9 + 3, n + 1)), xi, w)
        room = int(n * PAIR_BYTES * rng.choice([0.1, 0.3, 0.6, 1.5]))
        limits = Limits(node_limit=int(rng.choice([3, 30, 300])), time_limit=20.0)
        found = solve(pieces, room=room, limits=limits, loss=loss)
        how = {"noise_bound": xi, "weights": w, "loss": loss}
        plain = tear3d.register(given.source, given.target, **how, node_limit=300, time_limit=20.0)
        stages = () if found.certificate is None else found.certificate.stages
        if not stages:  # could be chance: nothing was proven
            continue
        proven += 1
        most = found.saving * (1.0 + found.certificate.gap)
        assert plain.saving <= most * (1.0 + 1e-9), (seed, found.status)
        assert stages[0].lower_bound <= stages[0].objective
    assert proven
