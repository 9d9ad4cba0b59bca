"""The options of `register`, checked in one place."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES, Loss, LossName

Certify = bool | Literal["full"]
BoundsName = Literal["sharp", "sweep", "paper"]
MOST_THREADS = 1024


@dataclass(frozen=True)
class Options:
    """Checked options."""

    loss: str = "tear"
    time_limit: float | None = None
    node_limit: int | None = None
    rel_gap: float = 1e-3
    threads: int = 1
    seed: int = 0
    certify: Certify = True
    progress: Callable[..., object] | None = None
    bounds: str = "sharp"

    @classmethod
    def of(
        cls,
        *,
        loss: LossName = "tear",
        certify: Certify = True,
        bounds: BoundsName = "sharp",
        progress: Callable[..., object] | None = None,
        **numbers: Any,
    ) -> Options:
        """The options, or an InputError that names the one that is wrong and what is expected."""
        if not isinstance(loss, str) or loss not in LOSSES:
            raise InputError(f"loss is {loss!r}: expected one of {', '.join(map(repr, LOSSES))}")
        if not isinstance(bounds, str) or bounds not in get_args(BoundsName):
            raise InputError(f"bounds is {bounds!r}: expected one of {', '.join(map(repr, get_args(BoundsName)))}")
        if not isinstance(certify, bool | np.bool_) and not (isinstance(certify, str) and certify == "full"):
            raise InputError(f"certify is {certify!r}: expected True, False or 'full'")
        if certify == "full" and loss != "tear":
            raise InputError(f"certify is 'full' and loss {loss!r}: the full certificate is for loss='tear' only")
        if progress is not None and not callable(progress):
            raise InputError(f"progress is {progress!r}: expected a function of one argument")
        return cls(
            loss=str(loss),
            certify="full" if isinstance(certify, str) else bool(certify),
            bounds=str(bounds),
            progress=progress,
            **_numbers(**numbers),
        )

    @property
    def the_loss(self) -> Loss:
        return LOSSES[self.loss]

    def limits(self) -> Limits:
        """Fresh limits: the clock starts."""
        return Limits(self.time_limit, self.node_limit, self.progress)

    def to_dict(self) -> dict[str, Any]:
        """What the result depends on."""
        return {key: value for key, value in vars(self).items() if key not in ("progress", "threads")}


def _numbers(
    *,
    time_limit: object = None,
    node_limit: object = None,
    rel_gap: object = 1e-3,
    threads: object = None,
    seed: object = 0,
) -> dict[str, Any]:
    gap = as_number(rel_gap, "rel_gap")
    if not 0.0 < gap < 1.0:
        raise InputError(f"rel_gap is {gap:g}: expected a number between 0 and 1, such as 0.001")
    limit = None if time_limit is None else as_number(time_limit, "time_limit")
    if limit is not None and not limit >= 0.0:
        raise InputError(f"time_limit is {limit:g}: expected seconds, 0 or more")
    cores = os.cpu_count() or 1
    return {
        "rel_gap": gap,
        "time_limit": limit,
        "node_limit": None if node_limit is None else as_whole(node_limit, "node_limit", 0),
        "threads": cores if threads is None else min(as_whole(threads, "threads", 1), MOST_THREADS),
        "seed": as_whole(seed, "seed", 0),
    }


def as_number(value: Any, name: str) -> float:
    """A real number that is not NaN."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex) or np.ma.isMaskedArray(value):
        raise InputError(f"{name} is {value!r}: expected a number")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{name} is too large: expected a number that float64 can hold") from None
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}: expected a number") from None
    if np.isnan(number):
        raise InputError(f"{name} is NaN: expected a number")
    return number


def as_whole(value: Any, name: str, least: int) -> int:
    """A whole number that 63 bits can hold."""
    number = as_number(value, name)
    if not np.isfinite(number) or number != int(number) or number < least or number >= 2.0**63:
        raise InputError(f"{name} is {value!r}: expected a whole number, {least} or more")
    return int(value) if isinstance(value, int | np.integer) else int(number)
