"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer


class Loss(StrEnum):
    tear = "tear"
    cm = "cm"
    tls = "tls"


class Bounds(StrEnum):
    sharp = "sharp"
    sweep = "sweep"
    paper = "paper"


class Cloud(StrEnum):
    gaussian = "gaussian"
    teapot = "teapot"
    ellipsoid = "ellipsoid"


class Kind(StrEnum):
    gaussian = "gaussian"
    off_centre = "off_centre"
    clustered = "clustered"
    second_motion = "second_motion"
    plane = "plane"


class Refine(StrEnum):
    gicp = "gicp"
    icp = "icp"
    plane = "plane"
    none = "none"


class Keypoints(StrEnum):
    iss = "iss"


_SEARCH, _OUTPUT = "Search", "Output"


def proof(certify: bool, full: bool) -> bool | Literal["full"]:
    """The `certify` of the library from --certify/--no-certify and --full."""
    if full and not certify:
        from tear3d.errors import InputError

        raise InputError("--full asks for a proof and --no-certify for none: pass one of them")
    return "full" if full else certify


TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Stop after this many seconds, keep the best.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]
NodeLimit = Annotated[
    int | None,
    typer.Option(min=1, help="Stop after this many cells, keep the best.", show_default=False, rich_help_panel=_SEARCH),
]
RelGap = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Proven when no pose saves this share more.", rich_help_panel=_SEARCH),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Number of threads; all unless given.", show_default=False, rich_help_panel=_SEARCH),
]
SearchSeed = Annotated[
    int,
    typer.Option("--seed", min=0, help="Of the order in which candidates are tried.", rich_help_panel=_SEARCH),
]
Certify = Annotated[
    bool,
    typer.Option("--certify/--no-certify", help="Prove the result optimal, or only find it.", rich_help_panel=_SEARCH),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Prove the whole pose optimal, not only its rows; slower, try with --rel-gap 0.01.",
        rich_help_panel=_SEARCH,
    ),
]

MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Refuse a file that expands to more bytes; 256 MiB or 100 times its size unless given.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Write a folder with everything: pose, inliers, report, settings, log. "
        "A name that ends in .json gives only the result, as JSON.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        "-r",
        help="Write a page to look at: 3D view, residuals, search, certificate (HTML, opens offline).",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
Pose = Annotated[
    Path | None,
    typer.Option(
        help="Write the pose: 4×4 text in full precision, or .npz.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
G2o = Annotated[
    Path | None,
    typer.Option(
        "--g2o",
        help="Write the pose and its covariance as an edge of a pose graph (g2o's EDGE_SE3:QUAT), from vertex 0, the "
        "target, to vertex 1, the source.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the result as JSON instead of the summary.", rich_help_panel=_OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).", rich_help_panel=_OUTPUT),
]

Seed = Annotated[int, typer.Option(min=0, help="Same seed, same problem.")]
Outliers = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of wrong pairs.")]
