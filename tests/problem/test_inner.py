"""Kernels without a way in from Python: a call of one would crash the interpreter."""

from __future__ import annotations

import ast
from pathlib import Path

import tear3d

PACKAGE, TESTS = Path(tear3d.__file__).parent, Path(__file__).parents[1]


def _decorators(node):
    return " ".join(ast.unparse(one) for one in getattr(node, "decorator_list", []))


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def test_only_kernels_of_the_same_file_call_inner_kernels():
    inner = {}
    for path in PACKAGE.rglob("*.py"):
        body = ast.parse(path.read_text("utf-8")).body
        own = {node.name for node in body if "**INNER" in _decorators(node)}
        callers = [node for node in body if "njit(" not in _decorators(node)]
        assert not {name for node in callers for name in _names(node) & own}
        inner[".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)] = own
    assert sum(map(len, inner.values())) > 20
    for path in (*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not {alias.name for alias in node.names} & inner.get(node.module, set())
