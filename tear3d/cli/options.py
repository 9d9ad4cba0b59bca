"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from tear3d.problem.options import Proof
    from tear3d.problem.options import TimeLimit as Limit


class Loss(StrEnum):
    tear = "tear"
    cm = "cm"
    tls = "tls"


class Bounds(StrEnum):
    sharp = "sharp"
    sweep = "sweep"
    paper = "paper"


class Method(StrEnum):
    tear3d = "tear3d"
    paper = "paper"


class Proven(StrEnum):
    pose = "pose"
    rows = "rows"
    none = "none"


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


class Refinement(StrEnum):
    gicp = "gicp"
    icp = "icp"
    plane = "plane"


class Keypoints(StrEnum):
    iss = "iss"


_PROOFS: dict[Proven, Proof] = {Proven.pose: "pose", Proven.rows: "rows", Proven.none: False}
_SEARCH, _OUTPUT = "Search", "Output"


def proof(certify: Proven | None, full: bool, no_certify: bool) -> Proof | Literal[True]:
    """The `certify` of the library from --certify and its old names."""
    from tear3d.errors import InputError

    given: dict[str, Proof] = {}
    if certify is not None:
        given[f"--certify {certify.value}"] = _PROOFS[certify]
    if full:
        given["--full"] = "pose"
    if no_certify:
        given["--no-certify"] = False
    if len(set(given.values())) > 1:
        raise InputError(f"{' and '.join(given)} contradict each other: pass one of them")
    return next(iter(given.values()), True)


def gap(rel_gap: float | None, certify: Proven | None, method: Method = Method.tear3d) -> float:
    """The gap that a search comes to its end at."""
    from tear3d.problem.options import GAPS

    rows = certify is Proven.rows or method is Method.paper
    return GAPS["rows" if rows else "pose"] if rel_gap is None else rel_gap


def seconds(time_limit: Any) -> Limit:
    """The `time_limit` of the library."""
    return "auto" if time_limit is None else None if time_limit == _NO_LIMIT else time_limit


_NO_LIMIT = "none"


def _limit(text: str) -> float | str:
    """Seconds, or none."""
    if str(text).strip().lower() == _NO_LIMIT:
        return _NO_LIMIT
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0.0:
        raise typer.BadParameter(f"{text!r} is neither a number of seconds, 0 or more, nor 'none'")
    return value


TimeLimit = Annotated[
    Any,
    typer.Option(
        parser=_limit,
        metavar="SECONDS|none",
        help="Stop after this many seconds, keep the best. Unless given, the proof ends after 60, between clouds "
        "after 10; none: no limit.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]
NodeLimit = Annotated[
    int | None,
    typer.Option(min=1, help="Stop after this many cells, keep the best.", show_default=False, rich_help_panel=_SEARCH),
]
RelGap = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Proven when no pose saves this share more; 0.01 unless given, 0.001 for rows.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
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
    Proven | None,
    typer.Option(
        help="What to prove: that no pose at all saves more (unless given); the same of two rows, one after the other, "
        "as the paper does; or nothing.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]
Full = Annotated[bool, typer.Option("--full", help="The same as --certify pose.", hidden=True)]
NoCertify = Annotated[bool, typer.Option("--no-certify", help="The same as --certify none.", hidden=True)]

MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Refuse a file that expands to more bytes; 256 MiB or 100 times its size unless given.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]
FileBytes = Annotated[
    int | None,
    typer.Option(
        "--max-bytes",
        min=1,
        help="Refuse a file that expands to more bytes; 256 MiB or 100 times its size unless given.",
        show_default=False,
    ),
]


def as_bytes(text: str) -> int:
    """A number of bytes, such as 500000000, 512M or 1.5G (powers of 1024)."""
    units = {"k": 10, "m": 20, "g": 30, "t": 40}
    plain = text.strip().lower().removesuffix("ib").removesuffix("b")
    try:
        if plain[-1:] in units:
            return int(float(plain[:-1]) * 2 ** units[plain[-1]])
        return int(plain)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is no number of bytes: expected something like 512M or 1.5G") from None


MemoryLimit = Annotated[
    int | None,
    typer.Option(
        parser=as_bytes,
        metavar="BYTES",
        help="What may be kept in memory, such as 512M or 2G. Pairs that need more are read from the file in passes; "
        "for .npy a quarter of the machine's memory unless given.",
        show_default=False,
        rich_help_panel=_SEARCH,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="When pairs are read in passes: a file from which the same command, run again, goes on with the proof.",
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

Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Print what happens, with times, as run.log has it.", rich_help_panel=_OUTPUT),
]

Seed = Annotated[int, typer.Option(min=0, help="Same seed, same problem.")]
Outliers = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of wrong pairs.")]
