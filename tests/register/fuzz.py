"""Odd problems by the thousand: `register` returns a result that keeps its promises, or raises an InputError.

python -m tests.register.fuzz --count 50000
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
import traceback
import warnings
from typing import Any

import numpy as np

import tear3d
from tear3d.lab.synthetic import random_rotation

ODD = (
    0.0,
    -0.0,
    5e-324,
    1e-300,
    1e-16,
    1e-9,
    1.0,
    -1.0,
    1e9,
    1e16,
    1e100,
    1e149,
    1e155,
    1e308,
    np.inf,
    -np.inf,
    np.nan,
)
PATIENCE = 3.0
"""Seconds that a call with limits of a twentieth of a second may take on a busy machine."""


def cloud(rng: np.random.Generator, n: int) -> np.ndarray:
    """Points in general position, or not at all."""
    kind = rng.integers(16)
    points = rng.normal(size=(n, 3))
    if kind == 0:
        points[:, 2] = 0.0
    elif kind == 1:
        points = np.outer(rng.normal(size=n), rng.normal(size=3))
    elif kind == 2:
        points = np.round(points)
    elif kind == 3:
        points[: n // 2] = points[0] if n else 0.0
    elif kind == 4:
        points = np.sign(points)
    elif kind == 5:
        points *= 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    return points


def values(rng: np.random.Generator, n: int, size: float) -> Any:
    """A noise bound or weights, mostly sane."""
    kind = rng.integers(-12, 12)
    if kind < 4:
        return float(size)
    if kind < 7:
        return size * 10.0 ** rng.uniform(-2, 2, size=n)
    if kind == 7:
        return rng.choice(ODD)
    if kind == 8:
        array = np.full(n, size)
        array[rng.integers(0, max(1, n), size=n // 4)] = rng.choice(ODD)
        return array
    if kind == 9:
        return size * rng.integers(0, 2, size=n)
    if kind == 10:
        return rng.choice(np.array([str(size), None, 10**400, True, 1j, "x", [], [[1.0]]], dtype=object))
    return np.full(rng.integers(0, n + 2), size)


def problem(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of `register`."""
    n = int(rng.choice([2, 3, 4, 5, 8, 12, 20, 30, 40, 50, 60]))
    source = cloud(rng, n)
    target = source @ random_rotation(rng).T + rng.normal(size=3) + 0.01 * rng.normal(size=(n, 3))
    wrong = rng.random(n) < rng.choice([0.0, 0.3, 0.7, 1.0])
    target[wrong] = cloud(rng, int(wrong.sum()))
    scale = 10.0 ** rng.choice([*[0] * 12, -3, 3, -9, 9, -60, 60, -140, 140, -160, 160])
    with np.errstate(all="ignore"):
        source, target = source * scale, target * scale
        if rng.random() < 0.3 and n:
            side = source if rng.random() < 0.5 else target
            side[rng.integers(n), rng.integers(3)] = rng.choice(ODD) * scale
        if rng.random() < 0.1:
            source = source + 10.0 ** rng.uniform(0, 12) * scale
    kinds = (*[np.float64] * 20, *[np.float32] * 4, np.float16, np.int64, object, complex)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ValueError, OverflowError):
            source = source.astype(kinds[rng.integers(len(kinds))])
    given: dict[str, Any] = {
        "source": source,
        "target": target[: n - 1] if rng.random() < 0.02 else target,
        "noise_bound": values(rng, n, 0.05 * scale),
        "time_limit": 0.05,
        "threads": int(rng.integers(1, 3)),
        "rel_gap": float(rng.choice([1e-6, 1e-3, 0.1, 0.5])),
        "seed": int(rng.integers(5)),
        "loss": str(rng.choice(["tear", "tear", "tear", "cm", "tls"])),
        "bounds": str(rng.choice(["sharp", "sharp", "sweep", "paper"])),
        "certify": ["pose", "rows", "rows", False][rng.integers(4)],
    }
    if given["certify"] == "pose" and rng.random() < 0.95:  # bounds of rows are refused
        given["bounds"] = "sharp"
    if given["certify"] == "rows" and given["bounds"] == "paper" and rng.random() < 0.5:
        given |= {"method": "paper", "threads": 1}
    if rng.random() < 0.4:
        given["weights"] = values(rng, n, 1.0)
    if rng.random() < 0.3:
        given["node_limit"] = int(rng.integers(0, 60))
    return given


def check(given: dict[str, Any]) -> str:
    """What came of it: a status, or "refused"; raises when a promise is broken."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = tear3d.register(**given)
    except tear3d.InputError as error:
        return "refused" if str(error) else "refused without a word"
    if time.perf_counter() - started >= PATIENCE:
        raise TooSlow
    n = len(given["source"])
    assert np.isfinite(result.transformation).all()
    np.testing.assert_allclose(result.rotation @ result.rotation.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(result.rotation) > 0.0
    assert result.inlier_mask.shape == (n,)
    assert np.isfinite(result.objective)
    assert result.objective >= -1e-9 * abs(result.objective)
    assert not np.isnan(result.significance)
    assert result.success == (result.status != "no_consensus" and result.significance <= -2.0)
    assert result.status != "optimal" or (result.certificate.closed and result.certificate.agrees)
    for attempt in result.certificate.attempts:
        for stage in attempt.stages:
            assert stage.saving <= stage.saving_bound
            assert stage.closed == (stage.ended_by == "gap")
    result.to_dict()
    str(result)
    return result.status


class TooSlow(Exception):
    """The limits did not hold."""


def check_again(given: dict[str, Any]) -> str:
    """`check`, twice if it is too slow: the first call of a kind compiles."""
    try:
        return check(given)
    except TooSlow:
        return check(given)


def run(count: int, first: int = 0, tell: bool = False) -> tuple[dict[str, int], list[int]]:
    """How often each outcome came, and the seeds that broke a promise."""
    outcomes: dict[str, int] = {}
    broken: list[int] = []
    for seed in range(first, first + count):
        try:
            outcome = check_again(problem(np.random.default_rng(seed)))
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        except Exception:
            broken.append(seed)
            if tell:
                print(f"seed {seed}:\n{traceback.format_exc()}", flush=True)
        if tell and (seed + 1 - first) % 1000 == 0:
            print(f"{seed + 1 - first} problems, {len(broken)} failures", flush=True)
    return outcomes, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    arguments = parser.parse_args()
    outcomes, broken = run(arguments.count, arguments.first, tell=True)
    print(outcomes)
    print(f"{arguments.count} problems, {len(broken)} failures{': seeds ' + str(broken[:20]) if broken else ''}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
