"""Values that strict JSON can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def strict(value: Any) -> Any:
    """NumPy's scalars and arrays become plain ones, tuples lists, and what is not finite None."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
