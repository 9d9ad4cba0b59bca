"""Figures for notebooks, drawn by plotly (extra `report`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tear3d.clouds.result import CloudResult
from tear3d.errors import InputError
from tear3d.prove.certificate import POSE
from tear3d.report import words
from tear3d.report.aligned import aligned_clouds
from tear3d.report.cells import OPEN, PRUNED, SPLIT, axes_and_angles
from tear3d.report.drawing import INLIER, OUTLIER, SOURCE, TARGET, cloud_of, pairs_of, plotly
from tear3d.report.residuals import histogram, noise_bounds, residuals
from tear3d.result import Result, StageCertificate

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_OPEN, _SPLIT, _RUNNER = "#e23d28", "#9aa7b0", "#7a3fa8"


def plot(
    result: Result | CloudResult,
    source: ArrayLike | None,
    target: ArrayLike | None,
    *,
    kind: str | None = None,
    **options: Any,
) -> Figure:
    """The figure of a kind; see `Result.plot` and `CloudResult.plot`."""
    if isinstance(result, CloudResult):
        return _plot_clouds(result, source, target, kind or "clouds", options)
    kind = kind or ("search" if source is None else "clouds")
    if kind in ("clouds", "residuals"):
        if source is None or target is None:
            raise InputError(f"kind {kind!r} needs the pairs: call plot(source, target, kind={kind!r})")
        draw = aligned_clouds if kind == "clouds" else residual_histogram
        return draw(result, source, target, **options)
    if kind == "search":
        return search_progress(result, **options)
    if kind == "cells":
        return sphere_cells(result, **options)
    if kind == "noise":
        return noise_curves(result, **options)
    raise InputError(f"kind is {kind!r}: expected 'clouds', 'residuals', 'search', 'cells' or 'noise'")


def _plot_clouds(
    found: CloudResult, source: ArrayLike | None, target: ArrayLike | None, kind: str, options: dict[str, Any]
) -> Figure:
    """As `plot`; what is about matches is about those that the result holds."""
    if kind != "clouds":
        return plot(found.result, found.source_matches, found.target_matches, kind=kind, **options)
    source = found.source_points if source is None else cloud_of(source, "source")
    target = found.target_points if target is None else cloud_of(target, "target")
    matches = found.source_matches, found.target_matches
    return aligned_clouds(found, *matches, source_cloud=source, target_cloud=target, **options)


def noise_curves(result: Result) -> Figure:
    """Inliers, significance, turn and scale of the pose against the noise bound, when it was estimated.

    Parameters
    ----------
    result : Result
    """
    figures = plotly()
    if result.noise is None or not result.noise.curve:
        raise InputError("the result has no curve over noise bounds: its noise bound was given, or a limit came first")
    curve = result.noise.curve
    bounds = [at.noise_bound for at in curve]
    drawn = {
        "inliers": [at.num_inliers for at in curve],
        "−significance": [-at.significance for at in curve],
        "degrees from the result": [at.degrees for at in curve],
    }
    scales = [at.scale for at in curve]
    if len(set(scales)) > 1:  # they were sought
        drawn["scale"] = scales
    figure = figures.Figure()
    for k, (name, values) in enumerate(drawn.items()):
        number = "" if k == 0 else str(k + 1)
        figure.add_scatter(x=bounds, y=values, name=name, mode="lines+markers", yaxis=f"y{number}")
        top = 1.0 - k / len(drawn)
        figure.update_layout({f"yaxis{number}": {"domain": [max(0.0, top - 0.84 / len(drawn)), top], "title": name}})
    figure.add_vline(result.noise.noise_bound, line_dash="dash")
    figure.update_xaxes(type="log", title="noise bound")
    figure.update_layout(title="The noise bound", showlegend=False)
    return figure


def residual_histogram(
    result: Result, source: ArrayLike, target: ArrayLike, *, noise_bound: ArrayLike | None = None
) -> Figure:
    """Residuals of all pairs on logarithmic axes, with the noise bound marked.

    Parameters
    ----------
    result : Result
    source, target : (N, 3) array
        The pairs the result is about.
    noise_bound : float or (N,) array, optional
        Taken from `result.settings` by default.
    """
    figures = plotly()
    x, y = pairs_of(result, source, target)
    bounds = noise_bounds(result.settings.get("noise_bound") if noise_bound is None else noise_bound, len(x))
    data = histogram(residuals(x, y, result.transformation), result.inlier_mask, bounds)
    widths, lefts = np.diff(data.edges), data.edges[:-1]
    figure = figures.Figure(
        [
            figures.Bar(x=lefts, width=widths, offset=0, y=counts, name=name, marker_color=colour)
            for name, counts, colour in (
                ("inliers", data.inliers, INLIER),
                ("outliers", data.outliers, OUTLIER),
            )
        ]
    )
    if data.threshold is not None:
        figure.add_vline(data.threshold, line_dash="dash")
        # On a logarithmic axis plotly places annotations by exponent, lines by value.
        figure.add_annotation(x=np.log10(data.threshold), y=1.0, yref="paper", text="ξ", showarrow=False, xshift=10)
    unit = "residual / noise bound" if data.relative else "residual"
    figure.update_layout(barmode="overlay", xaxis_title=unit, yaxis_title="pairs", title="Residuals of the pairs")
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def search_progress(result: Result) -> Figure:
    """What each stage found and what it could not rule out, over time, in percent of the best found."""
    figures = plotly()
    stages = [s for s in result.certificate.stages if len(s.history) and s.saving > 0.0]
    if not stages:
        raise InputError("result has no search history: nothing was proven")
    figure = figures.Figure()
    for k, stage in enumerate(stages):
        rows = stage.history[np.all(np.isfinite(stage.history), axis=1)]
        line = {"shape": "hv", "dash": ("solid", "dash", "dot")[k % 3]}
        for column, name, colour in ((2, f"{stage.none} saves more", TARGET), (1, "best found", SOURCE)):
            figure.add_scatter(
                x=rows[:, 0],
                y=100.0 * rows[:, column] / stage.saving,
                name=f"{stage.name}: {name}",
                line=line | {"color": colour},
            )
        if stage.elsewhere is not None:
            figure.add_scatter(
                x=rows[[0, -1], 0],
                y=[100.0 * stage.elsewhere / stage.saving] * 2,
                name=f"{stage.name}: {stage.none} elsewhere saves more",
                line={"color": _RUNNER, "dash": "dash"},
            )
    title = _title("The search", words.certificate_sentence(result.certificate))
    figure.update_layout(xaxis_title="seconds", yaxis_title="saving, % of the best found", title=title)
    figure.update_yaxes(type="log")
    return figure


def sphere_cells(result: Result, stage: int | str = 0) -> Figure:
    """Some of the cells that a stage visited; those left open are red.

    Cells of rows are directions. Pruned ones are coloured by depth, split ones left out unless all were split. Those of
    the pose are turns away from the pose found: each lies at the axis of its turn, and those searched are coloured by
    the angle; what these were split into is not recorded.

    Parameters
    ----------
    result : Result
    stage : int or str
        Index or name of the stage.
    """
    figures = plotly()
    chosen = _stage(result, stage)
    rows = chosen.visited
    if len(rows) == 0:
        raise InputError(f"stage {chosen.name} has no visited cells to show")
    centres, shade, scale, label = rows[:, :3], rows[:, 4], ["#bfdbe8", "#143d62"], "depth"
    fates = [(PRUNED, "pruned"), (OPEN, "still open")]
    if chosen.name == POSE:
        rows, centres, shade = axes_and_angles(rows)
        shade, scale, label = np.degrees(shade), scale[::-1], "turn, °"
        fates = [(SPLIT, "searched"), (OPEN, "still open")]
    elif np.all(rows[:, 5] == SPLIT):
        fates = [(SPLIT, "split")]
    figure = figures.Figure()
    for fate, name in fates:
        some = rows[:, 5] == fate
        if not some.any():
            continue
        colour: dict[str, Any] = {"color": _OPEN if fate == OPEN else _SPLIT}
        if name in ("pruned", "searched"):
            colour = {
                "color": shade[some],
                "colorscale": scale,
                "colorbar": {"title": label},
            }
        figure.add_scatter3d(
            x=centres[some, 0],
            y=centres[some, 1],
            z=centres[some, 2],
            mode="markers",
            name=name,
            marker={"size": np.clip(60.0 * rows[some, 3], 2.0, 14.0)} | colour,
        )
    figure.update_layout(title=_title(chosen.name, words.stage_sentence(chosen)), legend_x=0.0)
    figure.update_layout(legend_itemsizing="constant")
    figure.update_scenes(aspectmode="data")
    return figure


def _title(text: str, subtitle: str) -> dict[str, Any]:
    return {"text": text.capitalize(), "subtitle": {"text": subtitle}}


def _stage(result: Result, stage: int | str) -> StageCertificate:
    stages = result.certificate.stages
    for k, candidate in enumerate(stages):
        if stage in (k, candidate.name):
            return candidate
    raise InputError(f"stage {stage!r} is not in the result: choose one of {[s.name for s in stages]}")
