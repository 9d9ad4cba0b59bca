"""Executors of others: a Dask client, or anything with `submit` whose futures have `result`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tear3d.errors import InputError
from tear3d.problem import kernels
from tear3d.scale.task import run_one


class Client:
    """Hands problems to an executor that somebody else started, and ends."""

    def __init__(self, client: Any, function: Callable[..., Any]) -> None:
        self._client, self._function = client, function
        self._dask = _is_dask(client)

    def submit(self, packed: bytes) -> Any:
        """The problem travels with its task: a worker that is lost takes nothing along that another could not have."""
        if not self._dask:
            return self._client.submit(run_one, self._function, packed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._client.submit(run_one, self._function, packed, pure=False)  # equal problems are several tasks

    def close(self) -> None:
        """The executor is not ours to end; `register_many` cancels what it still waits for."""


def check_client(client: Any) -> None:
    if not callable(getattr(client, "submit", None)):
        kind = type(client).__name__
        raise InputError(f"client is of type {kind}: expected a distributed.Client or an executor, which has `submit`")
    if _is_dask(client) and getattr(client, "asynchronous", False):
        raise InputError("client is asynchronous: expected one whose futures can be waited for, asynchronous=False")


def workers_of(client: Any) -> int:
    """How many problems it solves at once, as far as it can be told."""
    if _is_dask(client):
        return max(1, sum(client.nthreads().values()))
    return max(1, int(getattr(client, "_max_workers", 0) or kernels.count_cores()))


def compile_on_nodes(client: Any, groups: Sequence[str]) -> bool:
    """Compile kernels once on each machine of a Dask cluster; False for an executor that has no list of machines."""
    if not _is_dask(client):
        return False
    hosts = {address.rpartition(":")[0]: address for address in client.nthreads()}
    tasks = [
        client.submit(compile_missing, tuple(groups), workers=[address], pure=False, allow_other_workers=True)
        for address in hosts.values()
    ]
    for task in tasks:
        task.result()
    return True


def compile_missing(groups: Sequence[str]) -> None:
    """In processes of their own, so that the one which is asked stays as it is."""
    missing = kernels.cold(groups)
    if missing:
        kernels.compile_groups(missing)


def _is_dask(client: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == "distributed" for kind in type(client).__mro__)
