"""A proof goes on where it was, and nothing goes on with what is of another problem."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
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
