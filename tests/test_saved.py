"""Results go to a file and come back the same."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import tear3d
from tear3d.errors import FileFormatError, InputError
from tear3d.saved import save_result


def same(one, other):
    """Whether two values are the same to the bit, arrays and dataclasses included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, n), getattr(other, n)) for n in one.__dataclass_fields__
        )
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or (one != one and other != other))


@pytest.fixture(scope="module")
def problem():
    return tear3d.synthetic.make_problem(600, 0.8, seed=1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"certify": False},
        {"certify": "rows"},
        {"max_instances": 2},
        {"noise_bound": None},
        {"rotation_axis": (0, 0, 1), "axis_tolerance": 170},
    ],
)
def test_pairs(problem, options, tmp_path):
    options = {"noise_bound": problem.noise_bound} | options
    result = tear3d.register(problem.source, problem.target, **options)
    result.save(tmp_path / "result.npz")
    again = tear3d.load_result(tmp_path / "result.npz")
    assert same(result, again)
    assert again.to_dict() == result.to_dict()
    assert not again.transformation.flags.writeable
    assert str(again) == str(result)


def test_clouds(problem, tmp_path):
    lower, upper = tear3d.shapes.teapot(6000, seed=1), tear3d.shapes.teapot(6000, seed=2) @ problem.rotation.T
    found = tear3d.register_clouds(lower, upper, certify=False)
    found.save(tmp_path / "any name")
    assert same(found, tear3d.load_result(tmp_path / "any name"))


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        tear3d.load_result(tmp_path / "none")
    with pytest.raises(InputError, match="is a folder"):
        tear3d.load_result(tmp_path)
    with pytest.raises(InputError, match="is a dict"):
        save_result(tmp_path / "x", {})
    (tmp_path / "text").write_text("hello")
    with pytest.raises(FileFormatError, match="text"):
        tear3d.load_result(tmp_path / "text")
    with pytest.raises(FileFormatError, match="plain JSON"):
        tear3d.load_result(tmp_path / "text")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(FileFormatError, match="holds no result"):
        tear3d.load_result(tmp_path / "other.npz")


@pytest.mark.parametrize("name", ["x.json", "X.JSON", "x.txt", "x.pickle"])
def test_names_that_promise_another_format_are_refused(problem, name, tmp_path):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    with pytest.raises(InputError, match=r"ends in \.npz"):
        result.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_json_of_the_command_line_is_called_that(problem, tmp_path):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    (tmp_path / "result.json").write_text(json.dumps(result.to_dict()))
    with pytest.raises(FileFormatError, match="plain JSON"):
        tear3d.load_result(tmp_path / "result.json")


@pytest.mark.parametrize(
    "told",
    [
        {"format": 2, "result": None},
        {"format": 1, "result": {"Popen": {"args": "ls"}}},
        {"format": 1, "result": {"Result": {"status": "optimal"}}},
        {"format": 1, "result": {"tuple": []}},
        {"format": 1, "result": {"array": "none"}},
        {"format": 1, "result": {"a": 1, "b": 2}},
        [],
    ],
)
def test_files_that_say_something_else(told, tmp_path):
    np.savez(tmp_path / "x.npz", result=np.frombuffer(json.dumps(told).encode(), np.uint8))
    with pytest.raises(FileFormatError, match=r"x\.npz"):
        tear3d.load_result(tmp_path / "x.npz")


def test_damaged_files(problem, tmp_path):
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    result.save(tmp_path / "good.npz")
    data = (tmp_path / "good.npz").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for k in range(120):
        cut = bytearray(data[: int(rng.integers(len(data)))] if k % 3 == 0 else data)
        for _ in range(int(rng.integers(1, 8)) if k % 3 else 0):
            cut[int(rng.integers(len(cut)))] = int(rng.integers(256))
        (tmp_path / "bad.npz").write_bytes(bytes(cut))
        try:
            tear3d.load_result(tmp_path / "bad.npz")
        except (FileFormatError, InputError):
            refused += 1
    assert refused > 60
    assert zipfile.is_zipfile(tmp_path / "good.npz")
