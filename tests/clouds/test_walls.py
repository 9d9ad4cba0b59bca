"""Parts with two sides: what only one side of is seen, on a table."""

import numpy as np
import pytest

from tear3d.clouds.equations import Pairing, Surface
from tear3d.clouds.refine import refine_icp
from tear3d.clouds.register import register_clouds
from tear3d.errors import InputError
from tear3d.io.clouds import write_cloud
from tear3d.lab.bench import make_bench
from tests.bumpy import apply, bumpy_cloud
from tests.cli.support import run


def plate(height, count=20):
    """A grid of points at a height, with normals along z."""
    x, y = np.meshgrid(np.arange(count, dtype=float), np.arange(count, dtype=float))
    points = np.column_stack((x.ravel(), y.ravel(), np.full(count**2, height)))
    return Surface(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)))


@pytest.mark.parametrize("method", ["gicp", "plane", "icp"])
def test_the_far_side_of_a_wall_is_not_paired_with_the_near_one(method):
    near, far = plate(0.0), plate(2.5)
    wall = Surface(*map(np.concatenate, zip(near, far, strict=True)))
    at = Pairing(wall, near, method, 3.0, 1).linearise(np.eye(4))
    assert at.near == len(wall.points)
    assert at.used == len(near.points)
    assert np.allclose(at.b, 0.0)
    alone = Pairing(far, near, method, 3.0, 1).linearise(np.eye(4))
    assert alone.used == len(far.points), "without the near side, it may be that side that has moved"


@pytest.mark.parametrize(
    ("part", "seed", "options"),
    [
        ("bracket", 112, {"spacing": 0.7, "noise": 0.3, "table": 200.0, "clutter": 4}),
        ("elbow", 134, {"spacing": 1.2, "noise": 0.3, "table": 250.0, "views": 3, "points": 20_000}),
        ("tee", 174, {"spacing": 1.2, "noise": 0.3, "table": 250.0, "views": 3, "points": 20_000}),
    ],
)
def test_a_part_on_a_table_stays_where_it_is(part, seed, options):
    bench = make_bench(part, seed=seed, **options)
    found = refine_icp(bench.model, bench.scan, bench.transformation, threads=1)
    off = np.linalg.norm(apply(found.transformation, bench.model) - apply(bench.transformation, bench.model), axis=1)
    assert found.converged
    assert off.max() < 0.3, "each was moved by 1.6 to 4.4 mm when both sides of a wall were matched"


def test_voxels_that_hide_a_wall_are_made_smaller():
    bench = make_bench("elbow", spacing=1.2, noise=0.3, table=250.0, views=3, points=20_000, seed=134)
    chosen = refine_icp(bench.model, bench.scan, bench.transformation, threads=1)
    asked = refine_icp(bench.model, bench.scan, bench.transformation, voxel_size=2 * chosen.voxel_size, threads=1)
    assert asked.voxel_size == 2 * chosen.voxel_size


def test_clouds_in_different_units_are_not_refined():
    cloud = bumpy_cloud(2000, 0)
    with pytest.raises(InputError, match="millimetres and the other in metres"):
        refine_icp(cloud, 1000.0 * cloud, np.eye(4))


def test_clouds_that_may_have_different_units_are_refined_with_a_warning(caplog):
    cloud = bumpy_cloud(2000, 0)
    refine_icp(cloud, 10.0 * cloud, np.eye(4), threads=1)
    assert "is one in millimetres and the other in centimetres?" in caplog.text


def test_commands_say_when_the_units_do_not_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_cloud("a.ply", bumpy_cloud(400, 0))
    write_cloud("b.ply", 1000.0 * bumpy_cloud(400, 1))
    asked = "is one in millimetres and the other in metres?"
    compared, refined = run("compare", "a.ply", "b.ply"), run("refine", "a.ply", "b.ply", code=2)
    assert asked in " ".join(compared.stdout.split())
    assert asked in " ".join(refined.stderr.split())


def test_the_better_of_two_poses_that_both_stand_out_wins():
    # Half a turn lays the bracket onto itself, but for its hole.
    bench = make_bench(table=150.0, spacing=0.7, noise=0.15, seed=1)
    found = register_clouds(bench.model, bench.scan, certify=False, threads=1)
    off = np.linalg.norm(apply(found.transformation, bench.model) - apply(bench.transformation, bench.model), axis=1)
    assert off.max() < 0.2
