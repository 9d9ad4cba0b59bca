"""What every result can be turned into: a card in a notebook, a file, an object of Open3D.

What does it lies in layers above, and is found by name when it is asked for.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

CARDS, FILES, OPEN3D = "tear3d.report.card", "tear3d.saved", "tear3d.interop"


class PassedOn:
    """A result that can be shown, kept and handed on."""

    def _repr_html_(self) -> str:
        """For notebooks: pose, verdict, certificate and a small picture, drawn without a network."""
        return str(importlib.import_module(CARDS).card(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result, arrays and certificate included, to a file at `path` that `tear3d.load_result` reads."""
        importlib.import_module(FILES).save_result(path, self)

    def to_open3d(self) -> Any:
        """An `open3d.pipelines.registration.RegistrationResult`; see `tear3d.interop.to_open3d`."""
        return importlib.import_module(OPEN3D).to_open3d(self)
