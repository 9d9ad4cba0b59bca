"""Peak resident memory of this process while a block runs."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from pathlib import Path
from types import TracebackType

_INTERVAL = 0.002
_PROC = Path("/proc/self")


class PeakMemory:
    """Samples the resident set in a thread; on Linux the kernel's own high-water mark is used as well.

    Attributes
    ----------
    before, peak : int
        Bytes resident when the block began, and the most while it ran.
    """

    def __init__(self) -> None:
        self.before = self.peak = 0
        self._exact = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        release_freed()
        self._exact = _reset_high_water_mark()
        self.before = self.peak = resident()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._exact:
            self.peak = max(self.peak, _status("VmHWM"))

    @property
    def extra(self) -> int:
        """Bytes at the peak beyond what was there before."""
        return self.peak - self.before

    def _sample(self) -> None:
        while not self._exact and not self._stop.wait(_INTERVAL):
            self.peak = max(self.peak, resident())


def resident() -> int:
    """Bytes of this process in memory now."""
    if _PROC.is_dir():
        pages = int((_PROC / "statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import psutil

    return int(psutil.Process().memory_info().rss)


def release_freed() -> None:
    """Give freed memory back to the system, so that what comes next is not served from it unseen."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _reset_high_water_mark() -> bool:
    try:
        (_PROC / "clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return _status("VmHWM") > 0


def _status(name: str) -> int:
    """A field of /proc/self/status in bytes."""
    for line in (_PROC / "status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0
