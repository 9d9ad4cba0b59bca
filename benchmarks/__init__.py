"""Measurements of tear3d: one runnable module per table or figure.

`python -m benchmarks` prints the core table; `python -m benchmarks.scale`, `.robust` and `.real` the others.
"""

import os

# The unit of time is a pass in one thread (passes.py), so NumPy must not spread it over the cores. This works
# only before NumPy is loaded; tear3d's own threads are not touched.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
