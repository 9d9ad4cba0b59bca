"""A few hundred damaged files; `python -m tests.io.fuzz` reads many more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.io import fuzz
from tests.io.mutations import mutate
from tests.io.samples import Sample, make_samples


def test_damaged_files_give_a_result_or_an_error_that_names_them(tmp_path):
    assert fuzz.run(600, seed=1, out=tmp_path) == []


def test_the_same_seed_gives_the_same_files():
    data = make_samples()[0].data
    files = [[mutate(Random(f"0 {i}"), data, [data]) for i in range(50)] for _ in range(2)]
    assert files[0] == files[1]
    assert sum(file != data for file in files[0]) > 40


def fail(path: Path) -> None:
    raise RuntimeError("oops")


def nameless(path: Path) -> None:
    from tear3d.errors import FileFormatError

    raise FileFormatError("something is wrong")


@pytest.mark.parametrize(
    ("read", "valid", "reason"),
    [
        (fail, True, "RuntimeError: oops"),
        (nameless, True, "does not name the file"),
        (Path.read_bytes, False, "not valid"),
        (Path.read_bytes, True, ""),
    ],
)
def test_what_counts_as_a_failure(tmp_path, read, valid, reason):
    path = tmp_path / "a.txt"
    path.touch()
    found = fuzz._judge(Sample("a", ".txt", b"", read, lambda result: valid), path)
    assert reason in found
    assert bool(found) == bool(reason)
