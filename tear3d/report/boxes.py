"""What was judged about a pose, as HTML: the tiles, and what the clouds say."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tear3d.clouds.result import CloudResult
from tear3d.lab.metrics import rotation_error, translation_error
from tear3d.problem.arrays import FloatArray
from tear3d.prove.certificate import POSE
from tear3d.report import judged, words
from tear3d.report.about import About, search_steps, total_seconds
from tear3d.report.sections import facts, table
from tear3d.result import Certificate, Result

_ONE_ROW = 6
"""Tiles that fit side by side."""
_Tile = tuple[str, str, str]


def reasons(lines: tuple[str, ...]) -> str:
    """Why the headline says what it says."""
    whole = tuple(line.replace(" %", "\u202f%") for line in lines)
    return f'<ul class="reasons">{items(whole)}</ul>' if lines else ""


def note(text: str) -> str:
    """A line in small letters; nothing without a text."""
    return f'<p class="note">{escape(text)}</p>' if text else ""


def tiles(result: Result, bound: str, about: About, truth: FloatArray | None, pose: FloatArray) -> str:
    """The numbers everybody asks for first."""
    rows = [*_cloud_tiles(about.found), *_tiles(result, bound, about)]
    if truth is not None:
        angle, shift = rotation_error(pose, truth), translation_error(pose, truth)
        rows.append(
            ("Error against truth", f"{words.number(angle, 2)}°", f"and {words.number(shift, 2)} in translation")
        )
    parts = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in rows
    )
    kind = "tiles"
    if len(rows) > _ONE_ROW:  # as many beside each other as leave fewest places empty
        kind += " many" if -len(rows) % 4 <= -len(rows) % 5 else " many five"
    return f'<dl class="{kind}">{"".join(parts)}</dl>'


def _cloud_tiles(found: CloudResult | None) -> Iterator[_Tile]:
    if found is None or found.evidence.fit != found.evidence.fit:
        return
    known = found.evidence
    both = f"{words.part(known.overlap_source)} of the source, {words.part(known.overlap_target)} of the target"
    yield "Overlap", words.part(known.overlap), f"the smaller of {both}"
    yield "Fit", f"{known.fit:.2f}", "of the surfaces, from 0 to 1"
    left = f"{words.count(len(found.source_points))} and {words.count(len(found.target_points))} points"
    yield "Voxel size", words.number(found.voxel_size), f"leaves {left}"


def _tiles(result: Result, bound: str, about: About) -> Iterator[_Tile]:
    certificate, pairs = result.certificate, result.num_pairs
    things = "pairs" if about.found is None else "matches"
    share = words.share(result.num_inliers, pairs)
    yield "Inliers", words.count(result.num_inliers), f"{share} of {words.count(pairs)} {things}"
    yield "Inlier RMSE", words.number(result.inlier_rmse), bound
    gap = words.percent(certificate.gap) if certificate.stages else "none"
    yield "Proven gap", gap, _proof_note(certificate)
    if certificate.runner_up is not None:
        most = words.percent(certificate.runner_up)
        any_pose = "any allowed pose" if certificate.scope else "any pose"
        yield "Elsewhere", f"≤\u202f{most}", f"of this saving, for {any_pose} more than 3 noise bounds off"
    yield "By chance", words.probability(result.significance), "that data without a true pose show one like this"
    holder = result if about.found is None else about.found
    known = judged.deviations(holder.covariance, holder.centre)
    if known is not None:
        sure = "" if holder.success else ", if it is the right pose"
        note = f"and {words.number(known[1], 2)} at the centre, one standard deviation{sure}"
        yield "Uncertainty", f"{words.number(known[0], 2)}°", note
    solver = sum(search_steps(result).values())
    note = f"{words.count(certificate.cells)} cells searched"
    total = total_seconds(result, about)
    yield (
        "Time",
        words.seconds(total),
        note if total == solver else f"{words.seconds(solver)} of it search and proof, {note}",
    )


def _proof_note(certificate: Certificate) -> str:
    if not certificate.stages:
        return "no proof"
    if not certificate.agrees:
        return "of rows that are not those of this pose"
    if certificate.stages[0].name == POSE:
        none = certificate.stages[0].none
        return f"{none} saves more beyond this one" if certificate.closed else f"{none} saves more; not closed"
    return "every stage closed" if certificate.closed else "not closed"


def clouds(found: CloudResult | None) -> str:
    """The section on what the clouds say about the pose."""
    if found is None:
        return ""
    rows = {name.capitalize(): text for name, text in judged.evidence(found)}
    sizes = f"{words.count(len(found.source_points))} and {words.count(len(found.target_points))} points"
    rows["Voxel size"] = f"{found.voxel_size:g}, which leaves {sizes}"
    rows["Noise bound"] = f"{found.noise_bound:g}"
    rows |= {f"Note {k}" if k > 1 else "Note": note for k, note in enumerate(found.notes, 1)}
    tried = [
        (
            judged.tried(each),
            words.count(each.num_matches),
            "–" if each.fit is None else f"{each.fit:.2f}",
            words.seconds(each.seconds),
            judged.outcome(each),
        )
        for each in found.tries
    ]
    names = ("try", "matches", "fit", "time", "verdict")
    more = f'<h3 class="gap">What was tried</h3>{table(names, tried)}' if tried else ""
    return (
        f'<section id="judged"><div class="head"><h2>What the clouds say: {found.verdict}</h2></div>'
        f'<table class="facts">{facts(rows)}</table>{more}</section>\n'
    )


def items(lines: tuple[str, ...]) -> str:
    """Of a list."""
    return "".join(f"<li>{escape(line)}</li>" for line in lines)
