"""Which systems stand in which figure, and how long and large a run may get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.figures import Scope
from benchmarks.runs.task import Problem, Task

OURS = ("tear3d_answer", "tear3d_pose", "tear3d_rows")
PACKAGES = ("open3d_ransac", "open3d_ransac_edges", "open3d_fgr", "kiss_gnc", "kiss", "colmap", "gcransac", "teaserpp")
WRITTEN = ("teaser", "gore", "trde", "sc2pcr", "mac", "here", "turboreg")
LEARNED = ("pointdsc", "vbreg")
PAPER = ("tear_paper",)
ROWS = ("tear1", "cm1", "tls1")
"""They solve the first row, not a pose (Figures 4 and 5)."""
ALL = (*OURS, *PAPER, *PACKAGES, *WRITTEN, *LEARNED)
LINEAR = (*OURS, *PAPER, "open3d_ransac", "open3d_ransac_edges", "open3d_fgr", "kiss_gnc", "colmap", "gcransac",
          "gore", "trde", "here", "sc2pcr", "turboreg")  # fmt: skip
"""Those whose memory does not explode on 10⁵ pairs and more: it is linear, or of the first pairs only."""
GIGABYTES = 12.0
SLOW = (*PAPER, "tear3d_rows", "open3d_ransac", "gcransac", "gore")
"""They take seconds to minutes on many real pairs, and get only some of them."""


def runs(
    scope: Scope, problems: Iterable[Problem], systems: tuple[str, ...], threads: int | None = None
) -> Iterator[Task]:
    """Every system on every problem, taking turns problem by problem."""
    for problem in problems:
        for key in scope.pick(systems):
            yield Task(key, problem, threads or scope.threads, scope.seconds, GIGABYTES)
