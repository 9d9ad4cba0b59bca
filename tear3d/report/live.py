"""Results in viewers that move: a page served by viser, and recordings of rerun (extra `view`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.errors import MissingExtraError
from tear3d.report.drawing import INLIER, SOURCE, TARGET
from tear3d.report.scene import _orientation
from tear3d.report.sight import Sight, sight_of
from tear3d.result import Result

AS_GIVEN = "#a58a70"
"""Of the source before it is moved."""
DOT, LINE = 0.0025, 0.0008
"""How large a point and how thick a line is, as a share of the scene."""


def serve(
    result: Result | CloudResult,
    source: Any = None,
    target: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    **options: Any,
) -> Any:
    """Show a result on a page that a viser server of this process brings up to date; see `Result.view`."""
    try:
        import viser
    except ImportError as error:
        raise MissingExtraError("viser", "view", "live viewing") from error
    sight = sight_of(result, source, target, **options)
    server = viser.ViserServer(host=host, port=port, label="tear3d")
    _fill(server, sight)
    return server


def _fill(server: Any, sight: Sight) -> None:
    scene, (middle, reach) = server.scene, sight.framed()
    _, up, towards = _orientation(sight.target)
    scene.set_up_direction(tuple(up.tolist()))
    clouds = (
        ("source as given", sight.source, AS_GIVEN, sight.apart, False),
        ("target", sight.target, TARGET, np.zeros(3), True),
        ("source aligned", sight.aligned, SOURCE, np.zeros(3), True),
    )
    for name, points, colour, position, visible in clouds:
        handle = scene.add_point_cloud(
            f"/{name}",
            points.astype(np.float32),
            _rgb(colour),
            point_size=DOT * reach,
            point_shape="circle",
            precision="float32",
            position=position,
            visible=visible,
        )
        box = server.gui.add_checkbox(name, visible)
        box.on_update(_switch(handle, box))
    if len(sight.lines):
        lines = scene.add_line_segments(
            "/inlier pairs", sight.lines.astype(np.float32), _rgb(INLIER), thickness=LINE * reach
        )
        box = server.gui.add_checkbox("inlier pairs", True)
        box.on_update(_switch(lines, box))
    server.gui.add_markdown(sight.said)
    server.initial_camera.look_at = middle
    server.initial_camera.position = middle + 1.4 * reach * towards


def _switch(handle: Any, box: Any) -> Any:
    def switch(_: Any) -> None:
        handle.visible = box.value

    return switch


def record(
    result: Result | CloudResult,
    source: Any = None,
    target: Any = None,
    *,
    recording: Any = None,
    path: str = "tear3d",
    **options: Any,
) -> Any:
    """Log a result to a recording of rerun; see `Result.to_rerun`."""
    try:
        import rerun
    except ImportError as error:
        raise MissingExtraError("rerun-sdk", "view", "logging to rerun") from error
    sight = sight_of(result, source, target, **options)
    stream = recording or rerun.get_data_recording() or rerun.RecordingStream("tear3d")

    reach = sight.framed()[1]

    def log(name: str, *what: Any) -> None:
        stream.log(f"{path}/{name}", *what, static=True)

    def points(values: Any, colour: str) -> Any:
        return rerun.Points3D(values.astype(np.float32), colors=[_rgb(colour)], radii=[0.5 * DOT * reach])

    log("target", points(sight.target, TARGET))
    log("source", rerun.Transform3D(translation=sight.apart), points(sight.source, AS_GIVEN))
    posed = rerun.Transform3D(translation=sight.pose[:3, 3], mat3x3=sight.pose[:3, :3])
    log("aligned", posed, points(sight.source, SOURCE))
    if len(sight.lines):
        colours, radii = [_rgb(INLIER)], [0.5 * LINE * reach]
        log("inlier_pairs", rerun.LineStrips3D(sight.lines.astype(np.float32), colors=colours, radii=radii))
    log("verdict", rerun.TextDocument(sight.said, media_type="text/markdown"))
    return stream


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue
