"""Two clouds, one over the other, as a figure for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tear3d.clouds.result import CloudResult
from tear3d.report import judged
from tear3d.report.drawing import INLIER, OUTLIER, SOURCE, TARGET, cloud_of, framed, moved, pairs_of, plotly, pose_of
from tear3d.report.sampling import choose, thin
from tear3d.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def aligned_clouds(
    result: Result | CloudResult,
    source: ArrayLike,
    target: ArrayLike,
    *,
    source_cloud: ArrayLike | None = None,
    target_cloud: ArrayLike | None = None,
    pose: ArrayLike | None = None,
    budget: int = 20_000,
) -> Figure:
    """The source moved by the pose, over the target, with inlier pairs and (hidden at first) outlier pairs.

    Parameters
    ----------
    result : Result or CloudResult
    source, target : (N, 3) array
        The pairs the result is about.
    source_cloud, target_cloud : (M, 3) array, optional
        Clouds to show in place of the pairs' points.
    pose : (4, 4) array, optional
        To move the source by, instead of the result's; `numpy.eye(4)` shows the clouds as they were given.
    budget : int
        At most so many points of each cloud are drawn.
    """
    figures = plotly()
    found = result if isinstance(result, CloudResult) else None
    of_pairs = result.result if isinstance(result, CloudResult) else result
    x, y = pairs_of(of_pairs, source, target)
    matrix = result.transformation if pose is None else pose_of(pose)
    how = "moved" if pose is None else "as given" if np.array_equal(matrix, np.eye(4)) else "moved as asked"
    figure = figures.Figure()
    shown = []
    clouds = (
        (f"source, {how}", SOURCE, source_cloud, x, True),
        ("target", TARGET, target_cloud, y, False),
    )
    for name, colour, cloud, pairs, move in clouds:
        points = pairs if cloud is None else cloud_of(cloud, name.partition(",")[0] + "_cloud")
        points = points[thin(points, budget)]
        points = moved(matrix, points) if move else points
        shown.append(points)
        # Target points of outlier pairs are fog around the shape.
        faint = cloud is None and not move and of_pairs.fitness < 0.5
        marker = {"size": 1.5, "color": colour, "opacity": 0.2 if faint else 1.0}
        figure.add_scatter3d(x=points[:, 0], y=points[:, 1], z=points[:, 2], mode="markers", name=name, marker=marker)
    for name, colour, mask in (
        ("inlier pairs", INLIER, of_pairs.inlier_mask),
        ("outlier pairs", OUTLIER, ~of_pairs.inlier_mask),
    ):
        rows = np.flatnonzero(mask)
        rows = rows[choose(len(rows), 1000 if pose is None else 60)]  # long ones would hide the clouds
        # NaN between the pairs breaks the line.
        ends = np.stack([moved(matrix, x[rows]), y[rows], np.full((len(rows), 3), np.nan)], axis=1).reshape(-1, 3)
        figure.add_scatter3d(
            x=ends[:, 0],
            y=ends[:, 1],
            z=ends[:, 2],
            mode="lines",
            name=name,
            line={"color": colour, "width": 2},
            visible=True if name == "inlier pairs" else "legendonly",
        )
    title = judged.verdict(of_pairs, found).headline if pose is None else f"The source {how}"
    figure.update_layout(title=title, legend_itemsizing="constant")
    stray = target_cloud is None
    figure.update_scenes(**framed(shown[:1] if stray and pose is None else shown, stray=stray))
    return figure
