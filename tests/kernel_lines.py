"""How many lines of the compiled functions were run: `python -m tests.kernel_lines` after `coverage run`.

Only the bodies of functions under `@njit` count, and only statements: docstrings and the lines of a signature do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions that are compiled."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            called = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
            if "njit" in {getattr(one, "id", getattr(one, "attr", "")) for one in called}:
                yield node


def inside(kernel: ast.FunctionDef) -> set[int]:
    return set(range(kernel.body[0].lineno, (kernel.end_lineno or kernel.lineno) + 1))


def spans(lines: list[int]) -> str:
    """3-5, 9"""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def main() -> None:
    measured = Coverage(config_file=str(ROOT / "pyproject.toml"))
    measured.load()
    count = hit = functions = 0
    for path in sorted((ROOT / "tear3d").rglob("*.py")):
        found = list(kernels(ast.parse(path.read_text(encoding="utf-8"))))
        lines = set().union(*map(inside, found))
        if not lines:
            continue
        _, statements, _, missing, _ = measured.analysis2(str(path))
        wanted, missed = lines & set(statements), sorted(lines & set(missing))
        functions, count, hit = functions + len(found), count + len(wanted), hit + len(wanted) - len(missed)
        share = 1.0 - len(missed) / max(1, len(wanted))
        print(f"{path.relative_to(ROOT).as_posix():<36} {len(wanted):5d} {share:6.1%}  {spans(missed)}".rstrip())
    print(f"{hit} of {count} lines of {functions} kernels were run: {hit / max(1, count):.1%}")


if __name__ == "__main__":
    main()
