"""The reference is complete: every parameter of every public function is described, and every public name is listed."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

import tear3d
from docs.blocks import ROOT


def public_functions():
    """Functions of the package and of its public modules, and the public methods of its classes, by name."""
    found = {}
    for name in tear3d.__all__:
        value = getattr(tear3d, name)
        if isinstance(value, ModuleType):
            names = getattr(value, "__all__", [n for n in dir(value) if not n.startswith("_")])
            own = {f"{name}.{n}": getattr(value, n) for n in names}
            found |= {key: f for key, f in own.items() if inspect.isfunction(f)}
        elif inspect.isclass(value):
            methods = inspect.getmembers(value, inspect.isroutine)
            found |= {f"{name}.{n}": f for n, f in methods if not n.startswith("_") and inspect.isfunction(f)}
        elif inspect.isfunction(value):
            found[name] = value
    return found


def described(doc: str) -> set[str]:
    """The names in the section on parameters, or those that the text marks as code."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?:^\w[\w ]*\n-+\n|\Z)", inspect.cleandoc(doc), re.MULTILINE | re.DOTALL
    )
    if section is None:
        return set(re.findall(r"`(\w+)", doc))
    lines = re.findall(r"^(\S[^:\n]*)(?: :.*)?$", section[1], re.MULTILINE)
    return {name.strip().lstrip("*") for line in lines for name in line.split(",")}


FUNCTIONS = public_functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_described(name):
    function = FUNCTIONS[name]
    assert function.__doc__, f"{name} has no docstring"
    wanted = [p for p in inspect.signature(function).parameters if p not in ("self", "cls") and not p.startswith("_")]
    missing = set(wanted) - described(function.__doc__)
    if len(wanted) > 1 or "Parameters" in function.__doc__:  # of one alone, the sentence tells
        assert not missing, f"{name}: {sorted(missing)}"


def test_every_public_name_is_on_the_page():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    names = [n for n in tear3d.__all__ if not n.startswith("_") and not isinstance(getattr(tear3d, n), ModuleType)]
    listed = set(re.findall(r"^::: [\w.]*?(\w+)$", page, re.MULTILINE))
    errors = {n for n in names if n.endswith("Error")}
    assert "errors" in listed
    assert not set(names) - errors - listed


def test_a_parameter_that_is_left_out_is_noticed():
    doc = """Do.

    Parameters
    ----------
    one, two : int
        Both.
    *rest
        More.

    Returns
    -------
    three : int
    """
    assert described(doc) == {"one", "two", "rest"}


def test_what_an_assistant_is_told_to_call_is_there():
    text = (ROOT / "tear3d" / "agent_skills" / "tear3d" / "SKILL.md").read_text(encoding="utf-8")
    options = {*inspect.signature(tear3d.register).parameters, *inspect.signature(tear3d.register_clouds).parameters}
    told = set(re.findall(r"\b(\w+)=", text))
    assert len(told) > 8
    assert not told - options
    fields = set(re.findall(r"`result\.(\w+)", text))
    assert {"success", "status", "ambiguous"} <= fields
    assert not fields - set(dir(tear3d.Result)) - set(tear3d.Result.__dataclass_fields__)
    assert len(text.splitlines()) < 60
