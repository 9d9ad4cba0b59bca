"""Certified 3D registration of point pairs when almost all of them are wrong.

The names below are imported when first used, so that `import tear3d` stays light.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tear3d import interop, metrics, refine, report, shapes, synthetic
    from tear3d.api import register
    from tear3d.clouds.prepared import Prepared, prepare
    from tear3d.clouds.register import CloudResult, register_clouds
    from tear3d.errors import ClusterError, InputError, MissingExtraError, StoppedError, TearError, WorkerError
    from tear3d.io.cloud import Cloud
    from tear3d.io.clouds import read_cloud, write_cloud
    from tear3d.mapping.build import Map, MapProgress, build_map
    from tear3d.problem.limits import Progress
    from tear3d.result import (
        Alternative,
        Ambiguity,
        Attempt,
        Certificate,
        FreeMotion,
        NoiseEstimate,
        Result,
        StageCertificate,
    )
    from tear3d.saved import load_result
    from tear3d.scale.many import Outcome, register_many
    from tear3d.stream.files import OpenPairs, open_pairs

_HOMES = {
    "register": "tear3d.api",
    "register_clouds": "tear3d.clouds",
    "CloudResult": "tear3d.clouds",
    "register_many": "tear3d.scale.many",
    "Outcome": "tear3d.scale.many",
    "build_map": "tear3d.mapping",
    "Map": "tear3d.mapping",
    "MapProgress": "tear3d.mapping",
    "prepare": "tear3d.clouds",
    "Prepared": "tear3d.clouds",
    "Cloud": "tear3d.io.cloud",
    "read_cloud": "tear3d.io.clouds",
    "write_cloud": "tear3d.io.clouds",
    "load_result": "tear3d.saved",
    "Result": "tear3d.result",
    "Certificate": "tear3d.result",
    "StageCertificate": "tear3d.result",
    "Attempt": "tear3d.result",
    "Alternative": "tear3d.result",
    "Ambiguity": "tear3d.result",
    "FreeMotion": "tear3d.result",
    "NoiseEstimate": "tear3d.result",
    "open_pairs": "tear3d.stream.files",
    "OpenPairs": "tear3d.stream.files",
    "Progress": "tear3d.problem.limits",
    "TearError": "tear3d.errors",
    "InputError": "tear3d.errors",
    "MissingExtraError": "tear3d.errors",
    "StoppedError": "tear3d.errors",
    "ClusterError": "tear3d.errors",
    "WorkerError": "tear3d.errors",
}
_MODULES = ("interop", "metrics", "refine", "report", "shapes", "synthetic")

__all__ = [
    "Alternative",
    "Ambiguity",
    "Attempt",
    "Certificate",
    "Cloud",
    "CloudResult",
    "ClusterError",
    "FreeMotion",
    "InputError",
    "Map",
    "MapProgress",
    "MissingExtraError",
    "NoiseEstimate",
    "OpenPairs",
    "Outcome",
    "Prepared",
    "Progress",
    "Result",
    "StageCertificate",
    "StoppedError",
    "TearError",
    "WorkerError",
    "__version__",
    "build_map",
    "interop",
    "load_result",
    "metrics",
    "open_pairs",
    "prepare",
    "read_cloud",
    "refine",
    "register",
    "register_clouds",
    "register_many",
    "report",
    "shapes",
    "synthetic",
    "write_cloud",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a checker that sees __getattr__ takes every misspelt name for an attribute

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            found = getattr(importlib.import_module(_HOMES[name]), name)
        elif name in _MODULES:
            found = importlib.import_module(f"tear3d.{name}")
        else:
            raise AttributeError(f"module 'tear3d' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        globals()[name] = found
        return found
