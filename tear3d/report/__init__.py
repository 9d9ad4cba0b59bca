"""What people see: the HTML report and figures for notebooks."""

from tear3d.report.about import About
from tear3d.report.html import write_report

__all__ = ["About", "write_report"]
