"""A few threads that work on pieces of a step, while the caller's thread keeps watch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Generic, TypeVar

from tear3d.problem.limits import Limits

Work = TypeVar("Work")
Item = TypeVar("Item")
Out = TypeVar("Out")


class Crew(Generic[Work]):
    """Threads with a work space each. Steps must look at `limits.over()` every tenth of a second or so."""

    def __init__(
        self,
        threads: int,
        limits: Limits,
        workspace: Callable[[], Work] | None = None,
        tick: Callable[[], object] | None = None,
    ) -> None:
        self.limits, self.tick = limits, tick
        self._alone = threads == 1
        self._pool = ThreadPoolExecutor(threads)
        self._free: list[Any] = [workspace() if workspace is not None else None for _ in range(threads)]

    def __enter__(self) -> Crew[Work]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def map(
        self, step: Callable[[Item, Work], Out], items: Iterable[Item], tick: Callable[[], object] | None = None
    ) -> list[Out]:
        """[step(item, work space) for all items], in order; `tick`, or that of the crew, is called now and then.

        Whatever `tick` or a step raises cancels the limits and is raised when all threads have stopped.
        """
        futures: list[Future[Out]] = []
        tick = tick or self.tick
        items = list(items)
        try:
            # With nobody to tell, the caller's thread does what one can: to hand it over would take longer.
            if self.limits.progress is None and (self._alone or len(items) == 1):
                return [self._call(step, item) for item in items]
            for item in items:
                futures.append(self._pool.submit(self._call, step, item))
            pending = set(futures)
            while pending:
                done, pending = wait(pending, timeout=self.limits.interval, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises at once what the step raised
                if pending and tick is not None:
                    tick()
            return [future.result() for future in futures]
        except BaseException:
            self.limits.cancel()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def _call(self, step: Callable[[Item, Work], Out], item: Item) -> Out:
        work = self._free.pop()
        try:
            return step(item, work)
        finally:
            self._free.append(work)
