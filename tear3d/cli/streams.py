"""What is printed when nobody reads on: `tear3d register pairs.npz | head -1` ends like the command alone."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO

_GONE = (errno.EPIPE, errno.EINVAL)  # the second is what Windows says


class Pipe(io.FileIO):
    """A stream whose reader may leave: what is written after that goes nowhere."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            if error.errno not in _GONE:
                raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        return len(data)


def patient(stream: TextIO) -> TextIO:
    """The stream, or one to the same place that does not mind when its reader leaves."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    try:
        if stream.isatty():
            return stream
        stream.flush()
        raw = Pipe(stream.fileno(), "w", closefd=False)
    except (AttributeError, OSError, ValueError):  # no file behind it
        return stream
    lines = stream is sys.stderr
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, "replace", line_buffering=lines)
