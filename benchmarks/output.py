"""Where results go: tables on the terminal, JSON and pictures in a folder."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

OUT = Path("out")
WIDE = 120
"""Columns to assume when the output is not a terminal."""
console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)


def machine() -> dict[str, Any]:
    """What a reader needs to judge the seconds."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "tear3d")},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write results with the machine they were measured on; numbers that are not finite become null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain({"machine": machine(), **content}), indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    console.print(f"written: {path}")


def write_picture(path: Path, svg: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg, encoding="utf-8")
    console.print(f"written: {path}")


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = (), words: int = 1
) -> None:
    """Print a table whose first `words` columns are text and whose others are numbers."""
    table = Table(box=box.SIMPLE_HEAD)
    for k, column in enumerate(columns):
        table.add_column(column, justify="left" if k < words else "right", no_wrap=k == 0)
    for row in rows:
        table.add_row(*row)
    console.print(title, style="bold")
    console.print(table)
    for note in notes:
        console.print(note, style="dim")
    console.print()


def seconds(value: float) -> str:
    """Three digits, in s, ms or µs."""
    if not math.isfinite(value):
        return "–"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1.0 or unit == "µs":
            return f"{_three(value * scale)} {unit}"
    raise AssertionError("unreachable")


def _three(value: float) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def percent(ratio: float) -> str:
    """0.998 → 99.8 %."""
    return f"{100 * ratio:g} %"


def count(value: int) -> str:
    """Thousands apart, powers of ten as such."""
    exponent = len(str(value)) - 1
    if exponent >= 4 and value % 10**exponent == 0:
        mantissa = value // 10**exponent
        power = "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return power if mantissa == 1 else f"{mantissa}·{power}"
    return f"{value:,}".replace(",", " ")
