"""What `build_map` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from tear3d.judge.uncertainty import carried
from tear3d.mapping.graph import Graph
from tear3d.mapping.merge import Merged, merge
from tear3d.mapping.pairwise import Tried
from tear3d.mapping.scans import Given
from tear3d.mapping.solve import Solution
from tear3d.problem.arrays import FloatArray
from tear3d.problem.strict import strict
from tear3d.result import known

Fate = Literal["kept", "dropped", "doubtful", "rejected", "failed"]


@dataclass(frozen=True, eq=False)
class MapEdge:
    """A pair of scans that was tried, and what became of it."""

    target: int
    source: int
    stage: str
    """Why it was tried: "order" for neighbours by order, "pair" for a pair that a coarse look liked, "bridge" to join
    parts, "loop" because the poses so far say that the scans overlap."""
    fate: Fate
    """`kept`: confirmed by the clouds, and the poses rest on it. `dropped`: confirmed, but the other edges contradict
    it. `doubtful`, `rejected`: the verdict of the clouds; not used. `failed`: an error, such as too few matches."""
    reasons: tuple[str, ...]
    transformation: FloatArray | None
    """4×4, target ← source, as registered; None if it failed."""
    covariance: FloatArray | None = field(repr=False)
    """6×6, as the registration has it."""
    weighed: FloatArray | None = field(repr=False)
    """6×6, as the poses rest on it; None for edges that are not in the graph."""
    residual: float
    """√(eᵀ C⁻¹ e) by which it was kept or dropped, with 0.21 noise bounds allowed in C; NaN where it is not in the
    graph or joins components."""
    alone: bool
    """Kept, and no loop goes through it: nothing bears it out but its own clouds."""
    undecided: bool
    """Dropped, but it may be right and an edge that is alone wrong."""
    status: str
    """Of the registration of the matches: what was proven."""
    gap: float
    fit: float
    overlap: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        own = dict(vars(self))
        for name in ("covariance", "weighed"):
            own[name] = None if own[name] is None else known(own[name])
        found: dict[str, Any] = strict(own)
        return found


@dataclass(frozen=True, eq=False)
class Map:
    """Scans in one frame, the edges that hold them there, and what could not be placed.

    Nothing is proven about the map as a whole: every edge has its own verdict, and its own certificate if asked for.
    """

    schema: ClassVar[int] = 1
    kind: ClassVar[str] = "map"

    names: tuple[str, ...]
    """Of the scans."""
    poses: tuple[FloatArray | None, ...]
    """4×4, map ← scan; the frame of the map is that of scan `origin`. None for scans that are not in the map."""
    covariances: tuple[FloatArray | None, ...] = field(repr=False)
    """6×6, of (ω, v) of each pose in the frame of its scan, as `Result.covariance`; zero for `origin`."""
    edges: tuple[MapEdge, ...] = field(repr=False)
    """Every pair that was tried, in this order."""
    components: tuple[tuple[int, ...], ...]
    """Scans that kept edges join, the largest first: that one is the map."""
    hanging: dict[tuple[int, int], tuple[int, ...]]
    """For an edge (target, source) that is alone, the scans whose place rests on it: the smaller side."""
    notes: tuple[str, ...]
    """What was noticed, in words."""
    voxel_size: float
    noise_bound: float
    seconds: float
    settings: dict[str, Any] = field(repr=False)
    graph: Graph = field(repr=False)
    solution: Solution = field(repr=False)
    given: Given = field(repr=False)

    @property
    def origin(self) -> int:
        """The scan whose frame is that of the map."""
        return self.components[0][0]

    @property
    def undecided(self) -> tuple[MapEdge, ...]:
        return tuple(edge for edge in self.edges if edge.undecided)

    @property
    def success(self) -> bool:
        """All scans are in the map, and no edge was dropped that may be right."""
        return len(self.components) == 1 and not self.undecided

    def count(self, fate: Fate) -> int:
        """Edges with this fate."""
        return sum(edge.fate == fate for edge in self.edges)

    def merged(self, voxel_size: float | None = None) -> Merged:
        """All scans of the map in its frame, one point to a voxel.

        In the colours of its file, if that is PLY and has them, else in a colour for each scan.

        Parameters
        ----------
        voxel_size : float, optional
            Half of that of the map by default.
        """
        placed = [(k, pose) for k, pose in enumerate(self.poses) if pose is not None]
        return merge(self.given, placed, 0.5 * self.voxel_size if voxel_size is None else voxel_size)

    @property
    def message(self) -> str:
        """The state of the map in one sentence."""
        total, inside = len(self.names), len(self.components[0])
        if inside == total:
            start = f"all {total} scans are in one map"
        elif inside == 1:
            return f"none of the {total} scans could be joined to another"
        else:
            start = f"{inside} of {total} scans are in the map"
        own = set(self.components[0])
        edges = [edge for edge in self.edges if {edge.source, edge.target} <= own]
        kept, dropped = (sum(edge.fate == fate for edge in edges) for fate in ("kept", "dropped"))
        held = f"{kept} edge{'s' * (kept != 1)} kept, {dropped} dropped"
        doubt = sum(edge.undecided for edge in edges)
        return f"{start}: {held}" + (f", of which {doubt} may be right" if doubt else "")

    def __str__(self) -> str:
        return "\n".join([self.message, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Everything but points, ready for strict JSON."""
        found: dict[str, Any] = strict(
            {
                "schema": self.schema,
                "kind": self.kind,
                "success": self.success,
                "message": self.message,
                "notes": self.notes,
                "origin": self.origin,
                "scans": [
                    {"name": name, "pose": pose, "covariance": covariance}
                    for name, pose, covariance in zip(self.names, self.poses, self.covariances, strict=True)
                ],
                "components": self.components,
                "hanging": [{"target": i, "source": j, "scans": scans} for (i, j), scans in self.hanging.items()],
                "edges": [edge.to_dict() for edge in self.edges],
                "voxel_size": self.voxel_size,
                "noise_bound": self.noise_bound,
                "seconds": self.seconds,
                "settings": self.settings,
            }
        )
        return found


def edge_of(tried: Tried, number: int | None, graph: Graph, solution: Solution) -> MapEdge:
    """What became of a pair; `number` is that of its edge in the graph, if it has one."""
    found = tried.found
    fate: Fate = "failed" if found is None else "doubtful"
    if found is not None and found.verdict == "rejected":
        fate = "rejected"
    if number is not None:
        fate = "kept" if solution.kept[number] else "dropped"
    return MapEdge(
        target=tried.i,
        source=tried.j,
        stage=tried.stage,
        fate=fate,
        reasons=(tried.error,) if found is None else found.reasons,
        transformation=None if found is None else found.transformation,
        covariance=None if found is None else found.covariance,
        weighed=None if number is None else carried(solution.weighed[number], 1.0, graph.centres[tried.j]),
        residual=np.nan if number is None else float(np.sqrt(solution.squares[number])),
        alone=number is not None and bool(solution.alone[number]),
        undecided=number is not None and bool(solution.undecided[number]),
        status="failed" if found is None else found.status,
        gap=np.nan if found is None else found.gap,
        fit=np.nan if found is None else found.fit,
        overlap=np.nan if found is None else found.overlap,
        seconds=tried.seconds,
    )
