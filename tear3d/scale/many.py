"""Many problems, one after the other in, one after the other out, several at once in between."""

from __future__ import annotations

import logging
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from tear3d.api import register
from tear3d.errors import InputError
from tear3d.problem import kernels
from tear3d.problem.compiling import compile_cold
from tear3d.problem.limits import Limits
from tear3d.problem.options import as_whole
from tear3d.scale.clients import Client, check_client, compile_on_nodes, workers_of
from tear3d.scale.outcome import Outcome, Reply
from tear3d.scale.task import PROTOCOL, own_arguments, pack
from tear3d.scale.workers import Workers

__all__ = ["Outcome", "register_many"]

log = logging.getLogger("tear3d")

AHEAD = 8
"""Problems in flight for each worker unless given: so many that a hard one does not leave the others idle at once, and
so few that their arrays fit into memory. With the times of 300 problems of 500 to 2000 pairs, 90 % of them wrong, two
workers would lose 11 % with 4 each, 6 % with 8 and with any more: what the last ones take (simulated)."""


def register_many(
    problems: Iterable[Any],
    *,
    function: Callable[..., Any] | None = None,
    client: Any = None,
    in_flight: int | None = None,
    processes: int | None = None,
) -> Generator[Outcome, None, None]:
    """Solve many problems, several at once, and yield what becomes of them in their order.

    Parameters
    ----------
    problems : iterable of mappings
        The arguments of one call each: `source`, `target`, `noise_bound`, … It may be endless: it is read only as far
        as `in_flight` allows. Each problem is solved in one thread unless it gives `threads`.
    function : callable, optional
        What is called with them: `tear3d.register` by default, or `tear3d.register_clouds`, or one of your own from
        a module that can be imported.
    client : optional
        Where the problems are solved: a `distributed.Client` of Dask (extra `cluster`), or anything with
        `submit(function, *arguments)` whose futures have `result()`, such as the executors of `concurrent.futures`.
        By default in processes on this machine, which end with the iteration.
    in_flight : int, optional
        So many problems at most are taken from the iterable and not yet yielded; 8 for each worker by default.
    processes : int, optional
        How many, without a client; one for each core by default.

    Yields
    ------
    Outcome
        One for each problem, in their order: its `result`, or the `error` that it ended with. A problem that cannot be
        solved, or that costs its worker its life twice (the second time alone on the machine's workers), is an outcome
        like any other.

    Raises
    ------
    InputError
        At the call, when an argument cannot be used.

    Notes
    -----
    What the iterable itself raises, or the `submit` of the client, is raised when all problems before have been
    yielded. To close the iterator, or Ctrl-C, ends the processes and cancels what the client has not begun.

    Examples
    --------
    >>> import tear3d
    >>> made = [tear3d.synthetic.make_problem(500, outlier_ratio=0.8, seed=seed) for seed in range(3)]
    >>> problems = (dict(source=p.source, target=p.target, noise_bound=p.noise_bound) for p in made)
    >>> [outcome.status for outcome in tear3d.register_many(problems)]
    ['optimal', 'optimal', 'optimal']
    """
    chosen = register if function is None else function
    if not callable(chosen):
        raise InputError(f"function is of type {type(chosen).__name__}: expected a function, such as tear3d.register")
    if isinstance(problems, (Mapping, str, bytes)):
        kind = type(problems).__name__
        raise InputError(f"problems is of type {kind}: expected an iterable of mappings, such as a list of dicts")
    try:
        iterator = iter(problems)
    except TypeError:
        kind = type(problems).__name__
        raise InputError(f"problems is of type {kind}: expected an iterable of mappings of arguments") from None
    if client is not None:
        check_client(client)
        if processes is not None:
            raise InputError(f"processes is {processes!r} and there is a client: pass one of them")
        count = workers_of(client)
    else:
        _check_local(chosen)
        count = kernels.count_cores() if processes is None else as_whole(processes, "processes", 1)
    most = AHEAD * count if in_flight is None else as_whole(in_flight, "in_flight", 1)
    return _Many(iterator, chosen, client, most, count).outcomes()


def _check_local(function: Callable[..., Any]) -> None:
    """Whether other interpreters can be started, and find the function."""
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").stem.lower().startswith("python"):
        raise InputError("client is None, and this program is no interpreter that could start others: pass a client")
    if getattr(function, "__module__", "") == "__main__":
        name = getattr(function, "__qualname__", repr(function))
        raise InputError(f"function is {name} of the script that runs: expected one of a module, for workers to import")
    try:
        pickle.dumps(function, PROTOCOL)
    except Exception as error:
        raise InputError(f"function cannot be sent to a worker ({error}): expected one of a module") from None


class _Waiting(NamedTuple):
    number: int
    future: Any
    began: float

    @property
    def done(self) -> bool:
        """False also where the future cannot tell."""
        return bool(getattr(self.future, "done", bool)())

    def cancel(self) -> None:
        """As far as the future can."""
        getattr(self.future, "cancel", bool)()

    def outcome(self) -> Outcome:
        """Wait for it."""
        try:
            reply: Reply = self.future.result()
        except Exception as error:  # the executor lost it
            reply = Reply(None, error, time.perf_counter() - self.began)
        for level, text in reply.said:
            log.log(level, "problem %d: %s", self.number, text)
        return Outcome(self.number, reply.result, reply.error, reply.seconds)


class _Many:
    """One call of `register_many`."""

    def __init__(
        self, problems: Iterator[Any], function: Callable[..., Any], client: Any, in_flight: int, workers: int
    ) -> None:
        self._problems, self._function, self._client = problems, function, client
        self._in_flight, self._workers = in_flight, workers
        self._own = own_arguments(function)
        self._waiting: deque[_Waiting] = deque()
        self._taken = 0
        self._compiled: set[Sequence[str]] = set()

    def outcomes(self) -> Generator[Outcome, None, None]:
        executor = self._executor()
        ended: BaseException | None = None
        try:
            while True:
                while ended is None and len(self._waiting) < self._in_flight:
                    try:
                        self._take(executor)
                    except Exception as error:  # StopIteration among them
                        ended = error
                    if self._waiting and self._waiting[0].done:
                        break
                if not self._waiting:
                    break
                first = self._waiting[0].outcome()
                self._waiting.popleft()
                yield first
        finally:
            for each in self._waiting:
                each.cancel()
            executor.close()
        if ended is not None and not isinstance(ended, StopIteration):
            raise ended

    def _executor(self) -> Workers | Client:
        if self._client is None:
            return Workers(self._function, self._workers)
        return Client(self._client, self._function)

    def _take(self, executor: Workers | Client) -> None:
        problem = next(self._problems)
        index, began = self._taken, time.perf_counter()
        self._taken += 1
        try:
            packed = pack(problem, self._own)
        except InputError as error:
            future: Any = Future()
            future.set_result(Reply(None, error, time.perf_counter() - began))
        else:
            self._compile(problem)
            future = executor.submit(packed)
        self._waiting.append(_Waiting(index, future, began))

    def _compile(self, problem: Any) -> None:
        """What the problem needs and nobody has compiled yet, once and not by every worker at the same time."""
        try:
            certify, method = problem.get("certify", True), problem.get("method", "tear3d")
            pairs = len(problem["source"]) if isinstance(certify, str) and certify == "rows" else 0
            groups = kernels.needed(certify, pairs=pairs, clouds=self._function is not register, method=method)
        except Exception:
            return  # no problem, as the worker will say
        if groups in self._compiled:
            return
        self._compiled.add(groups)
        if (self._client is None or not compile_on_nodes(self._client, groups)) and kernels.can_share():
            compile_cold(groups, Limits())
