"""The options that say what is known of a pose, or what else is sought."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

_KNOWN = "What is known, what is sought"
AUTO = "auto"
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def _bound(text: str) -> float | str:
    """A number, or auto."""
    if str(text).strip().lower() == AUTO:
        return AUTO
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor 'auto'") from None


def _numbers(text: str, count: int, expected: str) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in str(text).replace(",", " ").split())
    except ValueError:
        values = ()
    if len(values) != count:
        raise typer.BadParameter(f"{text!r}: expected {expected}")
    return values


def _axis(text: str) -> tuple[float, ...]:
    named = _AXES.get(str(text).strip().lower())
    return named or _numbers(text, 3, "x, y, z, or three numbers such as 0,0,1")


def _within(text: str) -> tuple[float, ...]:
    return _numbers(str(text).lower().replace("none", "inf"), 2, "degrees and a distance, such as 10,0.5 or 10,none")


def _range(text: str) -> tuple[float, ...]:
    return _numbers(text, 2, "the lowest and the highest scale, such as 0.5,2")


NoiseBound = Annotated[
    Any,
    typer.Option(
        "--noise-bound",
        "-n",
        parser=_bound,
        metavar="LENGTH|auto",
        help="Largest distance, in the units of the points (with --scale, of the target), between a right pair's "
        "target and its moved source; auto: estimated from the pairs, as it is when neither this nor the file says.",
        show_default=False,
    ),
]
RotationAxis = Annotated[
    Any,
    typer.Option(
        parser=_axis,
        metavar="x|y|z|A,B,C",
        help="The pose turns about this axis only: gravity is known.",
        show_default=False,
        rich_help_panel=_KNOWN,
    ),
]
AxisTolerance = Annotated[
    float, typer.Option(min=0.0, help="Degrees by which the axis may be off.", rich_help_panel=_KNOWN)
]
Planar = Annotated[
    bool,
    typer.Option("--planar", help="With --rotation-axis: nothing moves along the axis.", rich_help_panel=_KNOWN),
]
PlaneTolerance = Annotated[
    float, typer.Option(min=0.0, help="Length by which it may move along it.", rich_help_panel=_KNOWN)
]
Initial = Annotated[
    Path | None,
    typer.Option(
        help="A pose near the right one, target ← source: 4×4 text, a KITTI or TUM line, or .npz. Needs --within.",
        show_default=False,
        rich_help_panel=_KNOWN,
    ),
]
Within = Annotated[
    Any,
    typer.Option(
        parser=_within,
        metavar="DEGREES,LENGTH",
        help="How far from --initial to look; search and proof are confined to that. none leaves one of them open.",
        show_default=False,
        rich_help_panel=_KNOWN,
    ),
]
Scale = Annotated[bool, typer.Option("--scale", help="Seek the scale, too.", rich_help_panel=_KNOWN)]
ScaleRange = Annotated[
    Any,
    typer.Option(
        parser=_range,
        metavar="LOW,HIGH",
        help="The scales allowed; 0.1,10 unless given.",
        show_default=False,
        rich_help_panel=_KNOWN,
    ),
]
Instances = Annotated[
    int,
    typer.Option(
        min=1,
        help="Seek so many motions, one after the other, unless the next could be chance.",
        rich_help_panel=_KNOWN,
    ),
]


def prior(
    rotation_axis: Any,
    axis_tolerance: float,
    plane: tuple[bool, float],
    around: tuple[Path | None, Any],
) -> dict[str, Any]:
    """The options of the library that say what is known of a pose."""
    from tear3d.cli.outputs import check_input
    from tear3d.io.poses import read_pose

    initial, within = around
    if initial is not None:
        check_input(initial)
    return {
        "rotation_axis": rotation_axis,
        "axis_tolerance": axis_tolerance,
        "planar": plane[0],
        "plane_tolerance": plane[1],
        "initial": None if initial is None else read_pose(initial).tolist(),
        "within": within,
    }
