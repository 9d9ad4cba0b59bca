"""Run notebooks of the gallery and write their pages: `python -m docs.gallery [NAME ...]`."""

from __future__ import annotations

import sys
import tempfile
import time

from docs.gallery import notebooks, read, run, write

for path in notebooks():
    if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
        continue
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        write(path, run(read(path), folder))
        print(f"{path.stem}: {time.perf_counter() - began:.0f} s")
