"""Commands whose help shows a flag as what it is: a name without a value."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        return _flags_alone(super().get_params(ctx))


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> Any:
        return _flags_alone(super().get_params(ctx))


def _flags_alone(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
