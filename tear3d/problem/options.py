"""The options of `register`, checked in one place."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import is_masked
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES, Loss, LossName
from tear3d.problem.prior import Prior
from tear3d.problem.scales import ScaleRange

Certify = bool | Literal["pose", "rows", "full"]
Proof = Literal["pose", "rows", False]
TimeLimit = float | Literal["auto"] | None
BoundsName = Literal["sharp", "sweep", "paper"]
Method = Literal["tear3d", "paper"]
MOST_THREADS = 1024
_CORES = os.cpu_count() or 1
PROOF_SECONDS = 60.0
"""What a proof may take when nobody says how long (free choice)."""
GAPS: dict[Proof, float] = {"pose": 1e-2, "rows": 1e-3, False: 1e-2}
"""The gap that is asked for when nobody says which (free choices). The last tenth of a per cent costs cells near the
optimum: few of a row, which has two angles, many of a pose, which has three and a translation."""

BRANCH_RESOLUTION = 1e-3
"""Of the paper's method, in radians (paper, Hyperparameter Setup)."""


@dataclass(frozen=True)
class Options:
    """Checked options."""

    loss: str = "tear"
    time_limit: TimeLimit = "auto"
    """Seconds for the call; None for no limit; "auto" for PROOF_SECONDS of proof and no limit for the rest."""
    node_limit: int | None = None
    rel_gap: float = GAPS["pose"]
    threads: int = 1
    seed: int = 0
    certify: Proof = "pose"
    progress: Callable[..., object] | None = None
    bounds: str = "sharp"
    method: str = "tear3d"
    prior: Prior | None = None
    """The poses that are allowed, in the coordinates given; None for all."""
    scale: ScaleRange | None = None
    """The scales that are allowed; None for rigid motions."""
    max_instances: int = 1

    @classmethod
    def of(
        cls,
        *,
        loss: LossName = "tear",
        certify: Certify = True,
        bounds: BoundsName = "sharp",
        method: Method = "tear3d",
        progress: Callable[..., object] | None = None,
        prior: Prior | None = None,
        scale: ScaleRange | None = None,
        **numbers: Any,
    ) -> Options:
        """The options, or an InputError that names the one that is wrong and what is expected."""
        _check_name(loss, "loss", LOSSES)
        _check_name(bounds, "bounds", get_args(BoundsName))
        _check_name(method, "method", get_args(Method))
        proof = _proof(certify)
        if method == "paper":
            proof, bounds = _as_the_paper(certify), "paper"
            numbers["threads"] = _one_thread(numbers.get("threads"))
        if proof == "pose" and bounds != "sharp":
            raise InputError(f"bounds is {bounds!r}: these are bounds of rows; pass certify='rows' with them")
        if progress is not None and not callable(progress):
            raise InputError(f"progress is {progress!r}: expected a function of one argument")
        checked = _numbers(proof, **numbers)
        for value, name, kind in ((prior, "prior", Prior), (scale, "scale", ScaleRange)):
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} is {value!r}: expected a {kind.__name__} or None")
        asked = {
            "a prior (rotation_axis, rotation, initial, or N×2 points)": prior is not None,
            "estimate_scale": scale is not None,
            "max_instances": checked["max_instances"] > 1,
        }
        for name, given in asked.items():
            if given and proof == "rows":
                rows = "method='paper'" if method == "paper" else "certify='rows'"
                raise InputError(f"{name} and {rows} do not go together: rows are searched as the paper does")
        return cls(
            prior=prior,
            scale=scale,
            loss=str(loss),
            certify=proof,
            bounds=str(bounds),
            method=str(method),
            progress=progress,
            **checked,
        )

    @property
    def the_loss(self) -> Loss:
        return LOSSES[self.loss]

    @property
    def resolution(self) -> float | None:
        """Radians: cells this narrow are not split, though they could be."""
        return BRANCH_RESOLUTION if self.method == "paper" else None

    def limits(self, started: float | None = None, proof_seconds: float = PROOF_SECONDS) -> Limits:
        """Fresh limits, whose clock starts now or has been running for a while; the seconds are for "auto"."""
        began = time.perf_counter() if started is None else started
        if self.time_limit == "auto":
            return Limits(None, self.node_limit, self.progress, proof_seconds, started=began)
        return Limits(self.time_limit, self.node_limit, self.progress, started=began)

    def to_dict(self) -> dict[str, Any]:
        """What the result depends on."""
        out = {key: value for key, value in vars(self).items() if key not in ("progress", "threads")}
        out["prior"] = None if self.prior is None else self.prior.to_dict()
        out["scale"] = None if self.scale is None else list(self.scale)
        return out


def _check_name(value: object, name: str, known: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} is {value!r}: expected one of {', '.join(map(repr, known))}")


def _as_the_paper(certify: object) -> Proof:
    """What the paper's method proves, or an error where something else was asked for."""
    if _proof(certify) != "rows" and not (isinstance(certify, bool | np.bool_) and certify):
        raise InputError(f"certify is {certify!r}: method='paper' proves rows, it has nothing else; leave certify out")
    return "rows"


def _one_thread(threads: object) -> int:
    if threads is not None and as_whole(threads, "threads", 1) != 1:
        raise InputError(f"threads is {threads!r}: method='paper' runs in a single one; leave threads out")
    return 1


def _proof(certify: object) -> Proof:
    """What is to be proven."""
    if isinstance(certify, bool | np.bool_):
        return "pose" if certify else False
    if isinstance(certify, str) and certify in ("pose", "full"):
        return "pose"
    if isinstance(certify, str) and certify == "rows":
        return "rows"
    raise InputError(f"certify is {certify!r}: expected True or 'pose', 'rows', or False")


def _numbers(
    proof: Proof,
    *,
    time_limit: object = "auto",
    node_limit: object = None,
    rel_gap: object = None,
    threads: object = None,
    seed: object = 0,
    max_instances: object = 1,
) -> dict[str, Any]:
    gap = GAPS[proof] if rel_gap is None else as_number(rel_gap, "rel_gap")
    if not 0.0 < gap < 1.0:
        raise InputError(f"rel_gap is {gap:g}: expected a number between 0 and 1, such as {GAPS[proof]:g}")
    return {
        "rel_gap": gap,
        "time_limit": _time_limit(time_limit),
        "node_limit": None if node_limit is None else as_whole(node_limit, "node_limit", 0),
        "threads": _CORES if threads is None else min(as_whole(threads, "threads", 1), MOST_THREADS),
        "seed": as_whole(seed, "seed", 0),
        "max_instances": as_whole(max_instances, "max_instances", 1),
    }


def _time_limit(value: object) -> TimeLimit:
    if value is None:
        return None
    if isinstance(value, str):
        if value == "auto":
            return "auto"
        raise InputError(f"time_limit is {value!r}: expected seconds, None or 'auto'")
    limit = as_number(value, "time_limit")
    if not limit >= 0.0:
        raise InputError(f"time_limit is {limit:g}: expected seconds, 0 or more")
    return limit


def as_number(value: Any, name: str) -> float:
    """A real number that is not NaN."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex) or is_masked(value):
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
