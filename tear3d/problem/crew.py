"""A few threads that work on pieces of a step. The caller's is one of them, or keeps watch when somebody is to be told
how it goes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
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
        self._threads = threads
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
        futures: list[Future[Any]] = []
        tick = tick or self.tick
        items = list(items)
        try:
            if self.limits.progress is None:
                return self._with_caller(step, items, tick, futures)
            futures += [self._pool.submit(self._call, step, item) for item in items]
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

    def _with_caller(
        self,
        step: Callable[[Item, Work], Out],
        items: list[Item],
        tick: Callable[[], object] | None,
        futures: list[Future[Any]],
    ) -> list[Out]:
        """The same with one thread less to wake, which takes as long as a small piece: the caller's works, too."""
        left, out = deque(range(len(items))), dict[int, Out]()

        def numbers() -> Iterator[int]:
            while left:
                try:
                    yield left.popleft()
                except IndexError:  # another thread took the last
                    return

        def work_off(tick: Callable[[], object] | None = None) -> None:
            last = self.limits.seconds
            try:
                for number in numbers():
                    out[number] = self._call(step, items[number])
                    if tick is not None and self.limits.seconds >= last + self.limits.interval:
                        tick()
                        last = self.limits.seconds
            except BaseException:
                self.limits.cancel()
                left.clear()
                raise

        futures += [self._pool.submit(work_off) for _ in range(min(self._threads, len(items)) - 1)]
        work_off(tick)
        for future in futures:
            future.result()
        return [out[number] for number in range(len(items))]

    def _call(self, step: Callable[[Item, Work], Out], item: Item) -> Out:
        work = self._free.pop()
        try:
            return step(item, work)
        finally:
            self._free.append(work)
