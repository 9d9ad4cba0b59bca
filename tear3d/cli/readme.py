"""What the files of an output folder are, for a README inside it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

NAME = "README.txt"
_FILES = {
    "pose.txt": "The pose, 4x4, in full precision: target = pose * source. Read it with numpy.loadtxt.",
    "pose_2.txt": "The pose of the second motion, and so on with pose_3.txt.",
    "inliers.txt": "The pairs, or matched points, that agree with the pose; its first line says what the columns are.",
    "aligned": "The source cloud, moved onto the target.",
    "report.html": "The page to look at: clouds, pose, residuals, certificate. It needs no network.",
    "result.json": "Everything that was found, for other programs.",
    "run.log": "What happened, with times.",
    "settings.json": "How the command was called, on which files (SHA-256), with which versions; these files.",
    "map.ply": "All scans in one frame, one colour for each.",
    "trajectory.tum": "The poses of the scans, one a line: number, position, quaternion.",
    "trajectory.kitti": "The same as 3x4 matrices, one a line.",
    "graph.g2o": "The pose graph with the covariances of its edges.",
    "map.json": "The poses, the edges and their verdicts, for other programs.",
    "index.html": "The page to look at. It needs no network.",
    "summary.csv": "A line for each pair of scans: verdict, pose, why.",
    "summary.json": "The same for other programs.",
    "batch.json": "Marks this folder as that of a batch, which the same command goes on with.",
    "pairs": "The result of each pair, named by its files and options.",
}
_WIDTH, _INDENT = 100, 20


def readme(command: str, names: Iterable[str]) -> str:
    """Plain text that says of each file what it is.

    Parameters
    ----------
    command : str
        The name of the command that wrote the folder.
    names : iterable of str
        The files in it; those that are not known are left out.
    """
    known = {name: _FILES.get(name) or _FILES.get(name.partition(".")[0]) for name in sorted({*names} - {NAME})}
    lines = [
        textwrap.fill(f"{name:<{_INDENT}}{text}", _WIDTH, subsequent_indent=" " * _INDENT, break_long_words=False)
        for name, text in known.items()
        if text
    ]
    start = f"Written by `tear3d {command}`. The same command with this folder again replaces it as a whole."
    if command == "batch":
        start = "Written by `tear3d batch`. The same command with this folder again goes on where it was stopped."
    more = "The fields of JSON files are explained in docs/cli.md of tear3d, under JSON."
    return "\n".join([start, "", *lines, "", more, ""])
