"""Screenshots: the terminal after `tear3d demo`, and the HTML report in a headless Chromium."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy.spatial.transform import Rotation

import tear3d
from tear3d.report import write_report

# rich's own template fetches its fonts from the network.
_TERMINAL = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: Helvetica, Arial, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def draw(folder: Path) -> None:
    (folder / "demo.svg").write_text(_terminal(["demo"]), encoding="utf-8")
    turn = Rotation.from_euler("xyz", (-20, 25, 140), degrees=True).as_matrix()
    shown = tear3d.synthetic.make_problem(10_000, 0.95, cloud="teapot", rotation=turn, translation=(1.2, 0.4, 0.9))
    _report(folder / "report.webp", shown, _solve(shown))


def _solve(problem: tear3d.synthetic.Problem) -> tear3d.Result:
    """The second run, because the first one compiles."""
    for _ in range(2):
        result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    return result


def _terminal(arguments: list[str]) -> str:
    """What the command prints on a terminal of 82 columns."""
    from rich.console import Console
    from rich.text import Text

    command = [sys.executable, "-c", "from tear3d.cli import main; main()", *arguments]
    wanted = os.environ | {"COLUMNS": "82", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    printed = subprocess.run(command, env=wanted, check=True, capture_output=True, text=True).stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(width=82, record=True, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(printed))
        return console.export_svg(title=" ".join(["tear3d", *arguments]), code_format=_TERMINAL, unique_id="demo")


def _report(path: Path, problem: tear3d.synthetic.Problem, result: tear3d.Result) -> None:
    from tests.report.chromium import Chromium, find_chromium

    binary = find_chromium()
    if binary is None:
        print("no Chromium: report.webp is left as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(
            Path(folder) / "demo.html",
            result,
            problem.source,
            problem.target,
            truth=problem.transformation,
            title="teapot, 95 % wrong matches",
        )
        browser = Chromium(binary)
        try:
            browser.open(page, width=1040, height=860)
            browser.run("new Promise(done => setTimeout(done, 1500))")
            data = browser.call("Page.captureScreenshot", format="webp", quality=82)["data"]
            path.write_bytes(base64.b64decode(data))
        finally:
            browser.close()
