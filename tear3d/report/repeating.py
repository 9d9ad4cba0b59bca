"""What a run took and how to do it again, as HTML."""

from __future__ import annotations

from html import escape

from tear3d.api import register
from tear3d.problem.arrays import FloatArray
from tear3d.report import charts, words
from tear3d.report.about import About, Code, all_steps, python_call, search_steps, total_seconds
from tear3d.report.facts import fingerprint
from tear3d.result import Result


def times(result: Result, about: About) -> str:
    """The steps of the run, and for clouds those of the proof within it."""
    chart = charts.timing_chart(all_steps(result, about), total_seconds(result, about))
    if about.found is None:
        return chart
    steps = search_steps(result)
    own = charts.timing_chart(steps, sum(steps.values()))
    return f'{chart}<h3 class="gap">Search and proof among the matches, within these</h3>{own}'


def again(result: Result, about: About) -> str:
    """The command line and the call in Python."""
    parts = []
    if about.command:
        parts.append(f"<h3>On the command line</h3><pre>{escape(about.command)}</pre>")
    python = about.python or _python(result, about)
    if python:
        parts.append(f"<h3>In Python</h3><pre>{escape(python)}</pre>")
    if about.found is not None and about.command and "--voxel-size" not in about.command:
        text = f"The voxel size was chosen from the data: {about.found.voxel_size:g}."
        parts.append(f'<p class="note">{escape(text)}</p>')
    return f'<div class="again">{"".join(parts)}</div>' if parts else ""


def _python(result: Result, about: About) -> str:
    """From the settings, which name the options but not the data."""
    given = {name: value for name, value in result.settings.items() if name != "pairs"}
    if about.found is not None or "noise_bound" not in given:
        return ""
    if not isinstance(given["noise_bound"], (int, float)):
        given["noise_bound"] = Code("noise_bound")
    return f"result = {python_call(register, 'source, target', given)}"


def inputs(source: FloatArray, target: FloatArray, about: About) -> str:
    """Fingerprints of what the run read, as a table that a narrow screen can hold."""
    rows = [("the pairs", f"{words.count(len(source))}, sha256 {fingerprint(source, target)}…")]
    rows += [
        (str(one["path"]), f"{words.count(one['bytes'])} bytes, sha256 {one['sha256'][:16]}…") for one in about.inputs
    ]
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>" for name, text in rows)
    return f'<h3 class="gap">What was read</h3><table class="inputs">{body}</table>'
