"""A proof goes on where it was, and nothing goes on with what is of another problem."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.problem.arrays import spread_rows
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.stream import look
from tear3d.stream.checkpoint import Checkpoint
from tear3d.stream.local import Local
from tear3d.stream.solve import solve_streamed
from tests.stream.support import pieces_of, problem

ROOM = 2**22


def solve(given, path, limits=None, **options):
    pieces, chosen = pieces_of(given, 8_000), Options.of(threads=2, **options)
    runner = Local(pieces, 2)
    return solve_streamed(runner, pieces.edges, chosen, limits or chosen.limits(), ROOM, path), runner.passes


@pytest.mark.parametrize("patience", [1, 3, 8])
def test_interrupted_and_resumed(tmp_path, patience):
    given, path = problem(60_000, 0.95, cloud="ellipsoid"), tmp_path / "proof.npz"
    plain, passes = solve(given, None)
    assert plain.status == "optimal"
    seen = 0

    def progress(report):
        nonlocal seen
        seen += report.stage == "pose"
        return seen < patience

    stopped, _ = solve(given, path, Limits(progress=progress, interval=1e-4))
    found, fewer = solve(given, path)
    assert stopped.status in ("interrupted", "optimal")
    assert found.status == "optimal"
    assert found.saving == plain.saving
    assert fewer <= passes
    assert not path.exists()


def test_of_another_problem(tmp_path):
    given, path = problem(60_000, 0.95, cloud="ellipsoid"), tmp_path / "proof.npz"
    Checkpoint(path, {"a": 1}).save(open=np.zeros(3))
    with pytest.raises(InputError, match="is of another problem"):
        solve(given, path)
    path.write_bytes(b"half a file")
    with pytest.raises(InputError, match="cannot be read"):
        solve(given, path)


def test_of_other_pairs_that_look_the_same(tmp_path, monkeypatch):
    """The same pose, inliers, sample and box around all: but others agree elsewhere, where nobody would look again."""
    monkeypatch.setattr(look, "SAMPLE", 20_000)
    look._spread.cache_clear()
    given, path = problem(60_000, 0.95, cloud="ellipsoid"), tmp_path / "proof.npz"
    limits = Limits(progress=lambda report: not path.exists(), interval=1e-4)
    assert solve(given, path, limits)[0].status == "interrupted"
    assert path.exists()
    free = np.ones(60_000, bool)
    free[spread_rows(60_000, 20_000)] = False
    other = 0.3 * given.source
    for points in (given.source, given.target, other):
        free[points.argmin(0)] = free[points.argmax(0)] = False
    placed = given.source @ given.transformation[:3, :3].T + given.transformation[:3, 3]
    for points in (given.target, other):
        free &= np.linalg.norm(points - placed, axis=1) > 10.0 * given.noise_bound
    assert np.count_nonzero(free) > 10_000
    given.target[free] = other[free]
    with pytest.raises(InputError, match="is of another problem"):
        solve(given, path)
    look._spread.cache_clear()


def test_a_checkpoint_is_what_was_saved(tmp_path):
    about = {"pose": np.arange(3.0), "options": {"loss": "tear"}}
    path = tmp_path / "a.npz"
    assert Checkpoint(path, about).load() is None
    Checkpoint(path, about).save(x=np.arange(4))
    assert np.array_equal(Checkpoint(path, about).load()["x"], np.arange(4))
    for other in (about | {"pose": np.arange(3)}, about | {"options": {"loss": "cm"}}, {"pose": np.arange(3.0)}):
        with pytest.raises(InputError, match="another problem"):
            Checkpoint(path, other).load()
    Checkpoint(path, about).done()
    assert not path.exists()
