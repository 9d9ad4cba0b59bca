"""Which picture a figure gets."""

from __future__ import annotations

from typing import Any

from tear3d.report.picture.canvas import GREY, Canvas
from tear3d.report.picture.charts import draw_charts
from tear3d.report.picture.clouds import draw_space


def png(figure: Any) -> bytes:
    """A picture of a figure of `tear3d.report.plots`, with what the figure shows when it is first opened."""
    sheet = Canvas()
    if any(trace.type == "scatter3d" for trace in figure.data):
        draw_space(sheet, figure)
    else:
        draw_charts(sheet, figure)
    title = figure.layout.title
    sheet.words(14, 18, title.text or "", size=17)
    sheet.words(14, 40, title.subtitle.text or "", size=12, colour=GREY)
    return sheet.png()
