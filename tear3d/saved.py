"""Results in files, with all that they hold.

A file is an NPZ archive: its arrays, and a text in JSON in which they are named. Nothing in it is executed when it is
read, and only the kinds of objects that a result is made of are made of it.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.refine import RefineResult
from tear3d.clouds.result import CloudResult
from tear3d.clouds.tries import Try
from tear3d.clouds.verdict import CloudEvidence
from tear3d.errors import FileFormatError, InputError
from tear3d.io.arrays import Archive
from tear3d.io.atomic import atomic_write
from tear3d.io.checks import format_errors, memory_limit, missing
from tear3d.judge.ambiguity import Alternative, Ambiguity, FreeMotion
from tear3d.judge.bound import At, NoiseEstimate
from tear3d.prove.certificate import Attempt, Certificate, StageCertificate
from tear3d.result import Result

__all__ = ["load_result", "save_result"]

FORMAT = 1
OTHERS = (".json", ".txt", ".csv", ".html", ".htm", ".npy", ".yaml", ".yml", ".pkl", ".pickle")
"""Suffixes that would promise another format than is written."""
TEXT = "result"
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Alternative,
        Ambiguity,
        At,
        Attempt,
        Certificate,
        CloudEvidence,
        CloudResult,
        FreeMotion,
        NoiseEstimate,
        RefineResult,
        Result,
        StageCertificate,
        Try,
    )
}


def save_result(path: str | os.PathLike[str], result: Result | CloudResult) -> None:
    """Write a result to a file, all or nothing.

    Parameters
    ----------
    path
        The file; `.npz` says what it is, and names that promise another format, such as `.json`, are refused.
    result : Result or CloudResult
    """
    if not isinstance(result, Result | CloudResult):
        raise InputError(f"result is a {type(result).__name__}: expected what register or register_clouds returned")
    suffix = Path(path).suffix.lower()
    if suffix in OTHERS:
        instead = (
            "; for JSON, write json.dumps(result.to_dict()), which cannot be loaded again" if suffix == ".json" else ""
        )
        raise InputError(f"{path}: a result is saved as .npz, not as {suffix}: pass a name that ends in .npz{instead}")
    arrays: dict[str, NDArray[Any]] = {}
    text = json.dumps({"format": FORMAT, "result": _encoded(result, arrays)}, allow_nan=False)
    arrays[TEXT] = np.frombuffer(text.encode("utf-8"), np.uint8)
    with atomic_write(Path(path)) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_result(path: str | os.PathLike[str]) -> Result | CloudResult:
    """Read what `result.save(path)` wrote.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Result or CloudResult
        With the same fields, to the bit.

    Raises
    ------
    FileFormatError
        The file is damaged, or none of a result.
    InputError
        There is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: {missing(path)}")
    if not zipfile.is_zipfile(path):
        raise FileFormatError(
            f"{path}: was not written by result.save (a result.json of the command line is plain JSON)"
        )
    with format_errors(path, "result"), Archive(path, memory_limit(path, None)) as archive:
        if TEXT not in archive.names:
            raise FileFormatError(f"{path}: holds no result; expected a file that result.save wrote")
        told = json.loads(archive.read(TEXT).tobytes().decode("utf-8"))
        if told["format"] != FORMAT:
            raise FileFormatError(f"{path}: has format {told['format']}; this version reads {FORMAT}")
        found = _decoded(told["result"], archive)
    if not isinstance(found, Result | CloudResult):
        raise FileFormatError(f"{path}: holds a {type(found).__name__}; expected a result")
    return found


def _encoded(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """As JSON has it; what it has not is an object with one name, arrays are put aside."""
    if isinstance(value, np.ndarray):
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {"dict": [[_encoded(key, arrays), _encoded(entry, arrays)] for key, entry in value.items()]}
    name = type(value).__name__
    if KINDS.get(name) is type(value):
        names = [field.name for field in fields(value)] if is_dataclass(value) else list(value._fields)
        return {name: {each: _encoded(getattr(value, each), arrays) for each in names}}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_encoded(entry, arrays) for entry in value]}
    raise InputError(f"result holds a {name}, which cannot be saved")


def _decoded(value: Any, archive: Archive) -> Any:
    if not isinstance(value, dict):
        return value
    ((name, inner),) = value.items()
    if name == "array":
        return archive.read(inner)
    if name == "number":
        return float(inner)
    if name == "dict":
        return {_decoded(key, archive): _decoded(entry, archive) for key, entry in inner}
    if name in ("tuple", "list"):
        entries = [_decoded(entry, archive) for entry in inner]
        return tuple(entries) if name == "tuple" else entries
    return KINDS[name](**{each: _decoded(entry, archive) for each, entry in inner.items()})
