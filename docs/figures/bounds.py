"""Figures about the bounds: along t in one cell, and against the size of the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from docs.figures.cell_bounds import (
    RowProblem,
    best_in_cell,
    first_order_bound,
    point_bound,
    row_problem,
    window_bound,
)
from docs.figures.svg import BLUE, GREEN, GREY, INK, ORANGE, RED, Axis, Plot, document, save
from tear3d.prove.domains.sphere import CubeCell, top_cells

PAIRS, OUTLIERS = 100_000, 0.99


def draw(folder: Path) -> None:
    problem = row_problem(PAIRS, OUTLIERS)
    save(folder / "bounds-cell.svg", _along_t(problem))
    save(folder / "bounds-size.svg", _against_size(problem))
    save(folder / "losses.svg", _losses())


def typical_cell(problem: RowProblem, level: int) -> CubeCell:
    """A cell 60° away from the true row: one of the many that must be pruned."""
    return min(top_cells(level), key=lambda cell: abs(float(cell.centre @ problem.row) - 0.5))


def _windows(problem: RowProblem, cell: CubeCell, shifts: np.ndarray) -> np.ndarray:
    """The best grid of groups for this cell, as the library would choose it."""
    return min((window_bound(problem, cell, shifts, levels) for levels in (2, 3, 4)), key=np.max)


def _along_t(problem: RowProblem) -> str:
    shifts = np.arange(-72, 73) * problem.xi / 6
    cell = typical_cell(problem, 3)
    plot = Plot(
        Axis(shifts[0], shifts[-1], (-0.6, -0.3, 0.0, 0.3, 0.6), "shift t"),
        Axis(0.0, 200.0, (0, 50, 100, 150, 200), "saving"),
        title=f"one cell, θ = {cell.radius:.2f} rad",
    )
    plot.line(shifts, np.full(len(shifts), problem.best), INK, dash="6 4", width=1.5)
    plot.label(-0.65, problem.best + 4, "saved by the best row found", INK)
    curves = (
        ("every pair alone", point_bound, RED, 0.0, 10),
        ("first order", first_order_bound, ORANGE, 0.0, -13),
        ("windows", _windows, BLUE, 0.0, 4),
        ("best inside the cell", best_in_cell, GREEN, 0.0, -12),
    )
    for name, bound, colour, at, lift in curves:
        values = bound(problem, cell, shifts)
        plot.line(shifts, values, colour)
        plot.label(at, float(values[len(shifts) // 2]) + lift, name, colour, anchor="middle")
    return document(540, 318, [plot.draw()], "Upper bounds of the saving in one cell, along t")


def _against_size(problem: RowProblem) -> str:
    shifts = np.arange(-36, 37) * problem.xi / 6
    cells = [typical_cell(problem, level) for level in range(1, 7)]
    sizes = [cell.radius for cell in cells]
    plot = Plot(
        Axis(0.015, 0.6, (0.02, 0.05, 0.1, 0.2, 0.5), "angular radius θ of the cell, rad", log=True),
        Axis(60.0, 500.0, (60, 100, 200, 400), "bound of the saving", log=True),
    )
    plot.line([0.015, 0.6], [problem.best] * 2, INK, dash="6 4", width=1.5)
    plot.label(0.016, problem.best * 1.05, "below this line a cell is pruned", INK)
    for name, bound, colour, x, y in (
        ("every pair alone", point_bound, RED, 0.2, 285),
        ("first order", first_order_bound, ORANGE, 0.19, 165),
        ("windows", _windows, BLUE, 0.42, 124),
    ):
        tops = [float(bound(problem, cell, shifts).max()) for cell in cells]
        plot.line(sizes, tops, colour)
        plot.dots(sizes, tops, colour)
        plot.label(x, y, name, colour, anchor="end" if bound is point_bound else "start")
    inside = [float(best_in_cell(problem, cell, shifts, 5).max()) for cell in cells]
    plot.line(sizes, inside, GREEN, dash="2 3")
    plot.label(0.58, inside[0] * 0.86, "best inside the cell", GREEN, anchor="end")
    return document(540, 318, [plot.draw()], "Bounds against the size of the cell")


def _losses() -> str:
    residual = np.linspace(-2.0, 2.0, 401)
    size = np.abs(residual)
    plot = Plot(
        Axis(-2.0, 2.0, (-2, -1, 0, 1, 2), "residual, in units of ξ"),
        Axis(0.0, 1.2, (0, 0.5, 1), "loss"),
        box=(62, 34, 420, 190),
    )
    for name, loss, colour, y in (
        ("tear", np.minimum(size, 1.0), BLUE, 0.62),
        ("tls", np.minimum(size**2, 1.0), ORANGE, 0.34),
        ("cm", (size > 1.0).astype(float), GREY, 0.08),
    ):
        plot.line(residual, loss, colour)
        plot.label(1.12, y, name, colour)
    return document(440, 240, [plot.draw()], "The three losses")
