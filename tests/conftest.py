"""Settings of the whole suite."""

from __future__ import annotations

import os

from hypothesis import settings

# In CI the examples are the same at every run; elsewhere every run looks at new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
