"""What people see: the HTML report and figures for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tear3d.report.about import About

if TYPE_CHECKING:
    from tear3d.report.html import write_report

__all__ = ["About", "write_report"]


if not TYPE_CHECKING:  # imported when first used: those who only want the words need no page

    def __getattr__(name: str) -> object:
        if name != "write_report":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from tear3d.report.html import write_report

        globals()[name] = write_report
        return write_report
