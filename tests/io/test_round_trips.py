"""Whatever finite points are written come back, in every format that is written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tear3d.io import read_cloud, write_cloud
from tear3d.io.clouds import WRITERS
from tear3d.io.pairs import SUFFIXES, read_pairs, write_pairs
from tear3d.io.pcd_write import coordinates

finite = st.floats(allow_nan=False, allow_infinity=False)
rows = array_shapes(min_dims=1, max_dims=1, max_side=40).map(lambda shape: shape[0])
points = rows.flatmap(lambda count: arrays(np.float64, (count, 3), elements=finite))
pairs = rows.flatmap(lambda count: arrays(np.float64, (count, 6), elements=finite))
often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same_bits(found: np.ndarray, written: np.ndarray) -> bool:
    return found.shape == written.shape and np.asarray(found, np.float64).tobytes() == written.tobytes()


ROUNDED = (".xyzn", ".xyzrgb", ".las", ".laz", ".e57")
"""These need more than points, or are tested for what they keep in test_cloud_files."""


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix not in ROUNDED])
@often
@given(cloud=points)
def test_clouds(tmp_path, suffix, cloud):
    if suffix == ".pcd":
        pytest.importorskip("pypcd4")
    path = tmp_path / f"a{suffix}"
    write_cloud(path, cloud)
    if suffix.startswith(".pcd"):
        cloud = coordinates(cloud).astype(np.float64)  # what that costs is tested in test_pcd_floats
    assert same_bits(read_cloud(path), cloud)


@pytest.mark.parametrize("suffix", SUFFIXES)
@often
@given(both=pairs)
def test_pairs(tmp_path, suffix, both):
    path = tmp_path / f"a{suffix}"
    write_pairs(path, both[:, :3], both[:, 3:])
    source, target, *_ = read_pairs(path)
    assert same_bits(np.hstack([source, target]), both)


@often
@given(both=pairs, packed=st.booleans(), data=st.data())
def test_pairs_with_everything(tmp_path, both, packed, data):
    per_pair = arrays(np.float64, len(both), elements=finite)
    weights, bound = data.draw(per_pair), data.draw(per_pair)
    path = tmp_path / "a.npz"
    save = np.savez_compressed if packed else np.savez
    save(path, source=both[:, :3], target=both[:, 3:], weights=weights, noise_bound=bound)
    found = read_pairs(path)
    assert same_bits(np.hstack(found[:2]), both)
    assert found.weights is not None
    assert same_bits(found.weights, weights)
    assert same_bits(np.ravel(found.noise_bound), bound)


@often
@given(cloud=points, order=st.sampled_from("CF"), kind=st.sampled_from(["<f8", ">f8"]), packed=st.booleans())
def test_arrays_in_any_order(tmp_path, cloud, order, kind, packed):
    path = tmp_path / ("a.npz" if packed else "a.npy")
    array = np.asarray(cloud, kind, order)
    if packed:
        np.savez_compressed(path, points=array)
    else:
        np.save(path, array)
    assert same_bits(read_cloud(path), cloud)


@often
@given(cloud=points, encoding=st.sampled_from(["ascii", "binary_little_endian", "binary_big_endian"]))
def test_ply(tmp_path, cloud, encoding):
    properties = "".join(f"property double {axis}\n" for axis in "xyz")
    header = f"ply\nformat {encoding} 1.0\nelement vertex {len(cloud)}\n{properties}end_header\n"
    if encoding == "ascii":
        body = "".join(f"{x!r} {y!r} {z!r}\n" for x, y, z in cloud.tolist()).encode()
    else:
        body = cloud.astype(">f8" if "big" in encoding else "<f8").tobytes()
    (tmp_path / "a.ply").write_bytes(header.encode() + body)
    assert same_bits(read_cloud(tmp_path / "a.ply"), cloud)
