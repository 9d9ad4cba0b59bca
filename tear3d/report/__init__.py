"""What people see: the HTML report and figures for notebooks."""

from tear3d.report.html import write_report

__all__ = ["write_report"]
