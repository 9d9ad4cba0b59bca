"""The numbers of a trace."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray


def numbers(values: Any) -> FloatArray:
    """As an array; those of a figure that was copied are packed in Base64, as plotly does."""
    if isinstance(values, Mapping):
        values = np.frombuffer(base64.b64decode(values["bdata"]), dtype=np.dtype(values["dtype"]))
    return np.asarray(values, dtype=np.float64)
