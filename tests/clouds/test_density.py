"""Clouds that are sampled differently: the voxels follow the coarser one, and the result says so."""

from __future__ import annotations

import re

import pytest

import tear3d
from tear3d.clouds.sizes import follows
from tear3d.features.voxel import Voxels


@pytest.mark.parametrize(
    ("size", "finest", "note"),
    [
        (0.25, (0.25, 0.05), "source is sampled 5 times as coarsely as target: the voxel size 0.25"),
        (0.25, (0.05, 0.25), "target is sampled 5 times as coarsely as source: the voxel size 0.25"),
        (0.25, (0.25, 0.2), ""),
        (0.5, (0.25, 0.05), ""),
        (0.25, (0.25, 0.0), "source is sampled"),
    ],
)
def test_who_is_coarser(size, finest, note):
    told = follows(Voxels(size, finest))
    assert told.startswith(note)
    assert bool(told) == bool(note)


def test_a_fine_scan_and_a_coarse_one():
    fine, coarse = tear3d.shapes.teapot(60_000, seed=1), tear3d.shapes.teapot(2_500, seed=2)
    found = tear3d.register_clouds(fine, coarse, certify=False)
    (note,) = found.notes
    assert re.match(r"target is sampled (4\.[5-9]|5(\.[0-4])?) times as coarsely as source", note)
    assert f"{found.voxel_size:g}" in note
    assert found.success
    assert not tear3d.register_clouds(fine, coarse, voxel_size=found.voxel_size, certify=False).notes
    assert not tear3d.register_clouds(fine, fine[::2], certify=False).notes
