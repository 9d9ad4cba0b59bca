"""What a worker of a batch does with one pair: read, register, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import tear3d
from tear3d.api import register
from tear3d.cli.batch_lock import at_work, stamp
from tear3d.cli.batch_store import write_whole
from tear3d.cli.folder import Run, to_json
from tear3d.cli.session import exit_code
from tear3d.clouds.register import register_clouds
from tear3d.errors import InputError
from tear3d.io.cloud import Cloud
from tear3d.io.clouds import read_cloud
from tear3d.io.pairs import read_pairs
from tear3d.problem.arrays import finite_rows
from tear3d.report.about import About


def solve_files(
    *,
    files: Sequence[str],
    options: Mapping[str, Any],
    place: str,
    record: Mapping[str, Any],
    report: str | None = None,
    max_bytes: int | None = None,
    threads: int = 1,
    token: str,
) -> None:
    """Register two clouds, or the pairs of one file, and write the result to `place`: it is there as soon as it is
    known, whatever becomes of those who wait for it. `report` is the page about it, written before."""
    with at_work(Path(place).parents[1], token):
        _solve(files, options, place, record, report, max_bytes, threads)


def _solve(
    files: Sequence[str],
    options: Mapping[str, Any],
    place: str,
    record: Mapping[str, Any],
    report: str | None,
    max_bytes: int | None,
    threads: int,
) -> None:
    began = perf_counter()
    run = (
        _from_pairs(files, dict(options), max_bytes, threads)
        if len(files) == 1
        else _from_clouds(files, dict(options), max_bytes, threads, coloured=report is not None)
    )
    for known in record["inputs"]:  # what was read is what the name of the result stands for
        if stamp(known["path"]) != (known["bytes"], known["changed_ns"]):
            raise InputError(
                f"{known['path']} changed while the batch was at work; the same command takes it as it is now"
            )
    if report is not None:
        run.write_report(report)
    found = {
        **record,
        "tear3d": tear3d.__version__,
        "registered": exit_code(run.result, run.found) == 0,
        "seconds": perf_counter() - began,
        "report": None if report is None else Path(report).name,
        "result": run.summary,
    }
    write_whole(Path(place), to_json(found))


def _from_clouds(
    files: Sequence[str], options: dict[str, Any], max_bytes: int | None, threads: int, *, coloured: bool
) -> Run:
    read = Cloud.read if coloured else read_cloud
    clouds = [Cloud.of(read(file, max_bytes=max_bytes, keep_invalid=True)) for file in files]
    found = register_clouds(*(cloud.points for cloud in clouds), threads=threads, **options)
    source, target = (cloud.take(finite_rows(cloud.points)) for cloud in clouds)
    return Run(
        found.result,
        found.source_matches,
        found.target_matches,
        found.to_dict(),
        title=" onto ".join(os.path.basename(file) for file in files),
        noise_bound=found.noise_bound,
        found=found,
        source_cloud=source,
        target_cloud=target,
        about=About(found),
    )


def _from_pairs(files: Sequence[str], options: dict[str, Any], max_bytes: int | None, threads: int) -> Run:
    pairs = read_pairs(files[0], max_bytes=max_bytes)
    given = options.pop("noise_bound", None)
    bound = pairs.noise_bound if given is None else given
    if bound is None:
        raise InputError(f"{files[0]} carries no noise bound: expected one there, or in the column noise_bound")
    result = register(pairs.source, pairs.target, noise_bound=bound, weights=pairs.weights, threads=threads, **options)
    title = os.path.basename(files[0])
    return Run(result, pairs.source, pairs.target, result.to_dict(), title=title, noise_bound=bound)
