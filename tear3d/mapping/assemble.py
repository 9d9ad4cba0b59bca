"""The map from what was tried."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from tear3d.mapping.result import Map, MapEdge, edge_of
from tear3d.mapping.survey import Survey

_SHOWN = 8
"""Names in a note; the map has them all."""


def assemble(survey: Survey, settings: dict[str, Any], began: float) -> Map:
    """Solve the graph once more and say what came of it."""
    graph, solution = survey.solved(settled=True)
    number = iter(range(len(graph.edges)))
    edges = tuple(
        edge_of(each, next(number) if each.confirmed else None, graph, solution) for each in survey.tried.values()
    )
    inside = set(solution.components[0])
    placed = [scan in inside for scan in range(graph.count)]
    hanging = {(graph.edges[edge].i, graph.edges[edge].j): scans for edge, scans in solution.hanging(graph).items()}
    names = survey.scans.given.names
    return Map(
        names=names,
        poses=tuple(pose if here else None for pose, here in zip(solution.poses, placed, strict=True)),
        covariances=tuple(c if here else None for c, here in zip(solution.covariances, placed, strict=True)),
        edges=edges,
        components=solution.components,
        hanging=hanging,
        notes=tuple(_notes(survey, edges, solution.components, hanging)),
        voxel_size=survey.how.voxel_size,
        noise_bound=survey.how.noise_bound,
        seconds=time.perf_counter() - began,
        settings=settings,
        graph=graph,
        solution=solution,
        given=survey.scans.given,
    )


def _notes(
    survey: Survey,
    edges: tuple[MapEdge, ...],
    components: tuple[tuple[int, ...], ...],
    hanging: dict[tuple[int, int], tuple[int, ...]],
) -> Iterator[str]:
    names = survey.scans.given.names
    for component in components[1:]:
        together = ", placed among themselves only" if len(component) > 1 else ""
        yield f"not in the map: {_list([names[scan] for scan in component])}{together}"
    if components[0][0] != 0 and len(components[0]) > 1:
        yield f"the frame of the map is that of {names[components[0][0]]}, the first scan in it"
    for (i, j), scans in hanging.items():
        verb = "hangs" if len(scans) == 1 else "hang"
        ends = f"that between {names[i]} and {names[j]}"
        yield f"{_list([names[scan] for scan in scans])} {verb} on one edge, {ends}: no other bears it out"
    for edge in edges:
        if edge.undecided:
            pair = f"{names[edge.source]} to {names[edge.target]}"
            yield f"{pair} was dropped, but an edge that nothing else bears out may be the wrong one instead"
    failed = [edge for edge in edges if edge.fate == "failed"]
    if failed:
        many = f"{len(failed)} pair{'s' * (len(failed) != 1)}"
        yield f"{many} could not be registered, the first because: {failed[0].reasons[0]}"
    if survey.left_out:
        yield f"the limit of {survey.max_tries} tries was reached: {len(survey.left_out)} pairs were not tried"


def _list(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
