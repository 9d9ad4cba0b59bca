"""`tear3d view`: clouds in the browser."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from tear3d.cli import carried, options, saying
from tear3d.cli.session import Session, exit_on_errors


def view(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help=f"The clouds: {carried.FORMATS}.")],
    pose: Annotated[
        Path | None,
        typer.Option(help="Moves the first file: shows the pose that align found.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write the page to this file, and open no browser.", show_default=False
        ),
    ] = None,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Look at clouds: one page that needs no network, opened in the browser.

    \b
    Examples:
      tear3d view scan.ply
      tear3d view scan1.ply scan2.ply --pose aligned/pose.txt
      tear3d view scans/a.laz scans/b.laz --out scans.html
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        from tear3d.cli.outputs import check_new, check_page
        from tear3d.report.shown import Shown, Words, write_clouds_page
        from tear3d.report.tints import choices

        if out is not None:
            check_new(out, [*files, *([] if pose is None else [pose])])
            check_page(out)
        matrix = None if pose is None else carried.read_pose(pose)
        clouds: list[Any] = []
        shown: list[Shown] = []
        for path in files:
            with session.step(f"read {path.name}"):
                cloud = carried.read(path, max_bytes)
                by = f"the pose {pose}" if pose is not None and not shown else ""
                if matrix is not None and not clouds:
                    cloud = carried.moved(cloud, matrix)
                clouds.append(cloud)
                shown.append(Shown(path.name, carried.points(cloud), moved=by))
        names = ", ".join(each.name for each in shown[:3]) + (" and more" if len(shown) > 3 else "")
        resting = [(each.name, cloud) for each, cloud in zip(shown, clouds, strict=True) if not each.moved]
        doubt = carried.references_differ(resting)
        with session.step("write"):
            page = _place(out)
            lead = f'<p class="box">{escape(doubt)}: they do not belong into one view.</p>' if doubt else ""
            write_clouds_page(page, shown, Words(names, lead), choices(clouds))
        session.bar.stop()
        if doubt:
            typer.echo(f"warning: {doubt}", err=True)
        if not quiet:
            moved = f" ({files[0]} moved by {pose})" if pose is not None else ""
            saying.wrote(page, moved)
        if out is None:
            _open(page)


def _place(out: Path | None) -> Path:
    """Where the page goes: to the file asked for, or to a new one among the temporary files."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        return out
    import tempfile

    return Path(tempfile.mkdtemp(prefix="tear3d-")) / "view.html"


def _open(page: Path) -> None:
    """In the browser; where there is none, say so."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        typer.echo("no browser could be opened: open that file yourself", err=True)
