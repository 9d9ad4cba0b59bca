"""Points of the plane: N×2."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.errors import FileFormatError
from tear3d.io.pairs import read_pairs
from tear3d.problem.flat import in_space, lifted
from tear3d.report.html import write_report

RNG = np.random.default_rng(4)
TURN = 2.0
ROTATION = np.array([[np.cos(TURN), -np.sin(TURN)], [np.sin(TURN), np.cos(TURN)]])
SOURCE = RNG.normal(size=(300, 2))
TARGET = SOURCE @ ROTATION.T + [1.0, -2.0] + 0.005 * RNG.normal(size=(300, 2))
TARGET[:240] = 1.7 * RNG.normal(size=(240, 2))
MIRRORED = TARGET.copy()
MIRRORED[:200] = (SOURCE[:200] * [1.0, -1.0]) @ ROTATION.T + 0.005 * RNG.normal(size=(200, 2))


@pytest.mark.parametrize("kind", ["arrays", "lists", "float32"])
def test_the_motion_of_the_plane_is_found(kind):
    given = (SOURCE, TARGET)
    if kind == "lists":
        given = (SOURCE.tolist(), TARGET.tolist())
    if kind == "float32":
        given = (SOURCE.astype(np.float32), TARGET.astype(np.float32))
    result = tear3d.register(*given, noise_bound=0.03, certify=False)
    assert result.success
    np.testing.assert_allclose(result.transformation_2d[:2, :2], ROTATION, atol=0.01)
    np.testing.assert_allclose(result.transformation_2d[:2, 2], [1.0, -2.0], atol=0.01)
    np.testing.assert_allclose(result.transformation[2], [0.0, 0.0, 1.0, 0.0], atol=1e-9)


def test_a_mirror_is_no_motion_of_the_plane():
    """In space a turn by half about an axis of the plane mirrors it: most pairs would agree with that."""
    result = tear3d.register(SOURCE, MIRRORED, noise_bound=0.03, certify=False)
    np.testing.assert_allclose(result.transformation_2d[:2, :2], ROTATION, atol=0.01)


def test_what_is_solved_turns_about_z_in_the_plane():
    source, target, prior = lifted(SOURCE, TARGET, None)
    assert source.shape == target.shape == (300, 3)
    assert not source[:, 2].any()
    assert prior.upright
    assert (prior.axis.tolist(), prior.slide) == ([0.0, 0.0, 1.0], 0.0)
    assert lifted(in_space(SOURCE), in_space(TARGET), None).prior is None


@pytest.mark.parametrize(
    "known",
    [{"rotation_axis": (0, 0, 1)}, {"rotation": np.eye(3)}, {"initial": np.eye(4), "within": (10.0, 1.0)}],
)
def test_what_is_known_of_space_is_refused(known):
    with pytest.raises(tear3d.InputError, match=r"is about space, but source and target are N×2: leave rotation_axis"):
        tear3d.register(SOURCE, TARGET, noise_bound=0.03, **known)


def test_one_side_in_space_is_refused():
    with pytest.raises(tear3d.InputError, match=r"source is N×2 and target is not: pass both"):
        tear3d.register(SOURCE, in_space(TARGET), noise_bound=0.03)
    with pytest.raises(tear3d.InputError, match=r"target is N×2 and source is not: pass both"):
        tear3d.register(in_space(SOURCE), TARGET, noise_bound=0.03)


def test_a_pose_of_space_is_none_of_the_plane():
    x = RNG.normal(size=(20, 3))
    result = tear3d.register(x, x @ np.roll(np.eye(3), 1, axis=0), noise_bound=0.03, certify=False)
    with pytest.raises(tear3d.InputError, match="transformation_2d: this pose is not one of the plane"):
        _ = result.transformation_2d


def test_files_and_report(tmp_path):
    np.savez(tmp_path / "a.npz", source=SOURCE, target=TARGET)
    np.savetxt(tmp_path / "a.csv", np.hstack([SOURCE, TARGET]), delimiter=",", fmt="%.17g")
    for name in ("a.npz", "a.csv"):
        pairs = read_pairs(tmp_path / name)
        np.testing.assert_array_equal(pairs.source, SOURCE)
        np.testing.assert_array_equal(pairs.target, TARGET)
    result = tear3d.register(SOURCE, TARGET, noise_bound=0.03, certify=False)
    assert write_report(tmp_path / "a.html", result, SOURCE, TARGET).stat().st_size > 10_000


def test_files_that_mix_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", source=SOURCE, target=in_space(TARGET))
    with pytest.raises(FileFormatError, match="one of source and target is N×2, the other N×3"):
        read_pairs(tmp_path / "a.npz")
    (tmp_path / "a.txt").write_text("1 2 3 4\n1 2 3 4 5 6\n")
    with pytest.raises(FileFormatError, match="line 2: 6 columns"):
        read_pairs(tmp_path / "a.txt")
