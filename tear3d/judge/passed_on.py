"""What every result can be turned into: a card in a notebook, a file, a live view, an object of Open3D.

What does it lies in layers above, and is found by name when it is asked for.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

CARDS, FILES, LIVE, OPEN3D = "tear3d.report.card", "tear3d.saved", "tear3d.report.live", "tear3d.interop"


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

    def view(self, source: Any = None, target: Any = None, **options: Any) -> Any:
        """Show both clouds, the source under the pose and the inlier pairs on a live page (extra `view`).

        Parameters
        ----------
        source, target : (N, 3) array, optional
            The pairs this result is about, which a `Result` does not hold. For a `CloudResult`, clouds to show in
            place of those that were compared.
        **options
            `source_cloud` and `target_cloud`, to show in place of the pairs' points; `budget`, how many points of a
            cloud are shown at most (100 000, spread evenly, the same every time; the page says how many of how many);
            `host` ("127.0.0.1": this machine only) and `port` (8080, or the next that is free).

        Returns
        -------
        viser.ViserServer
            It serves until `stop()` is called on it or the process ends; more can be added to its `scene`.
        """
        return importlib.import_module(LIVE).serve(self, source, target, **options)

    def to_rerun(self, source: Any = None, target: Any = None, *, recording: Any = None, **options: Any) -> Any:
        """Log both clouds, the pose as a transform, and the inlier pairs to rerun (extra `view`).

        Parameters
        ----------
        source, target : (N, 3) array, optional
            As those of `view`.
        recording : rerun.RecordingStream, optional
            By default the one that is active, or else a new one.
        **options
            `path`, the entity under which all is logged ("tear3d"); `source_cloud`, `target_cloud` and `budget` as
            those of `view`.

        Returns
        -------
        rerun.RecordingStream
            `save("file.rrd")` of a new one writes it to a file, `spawn()` opens a window. Coordinates begin at the
            median of the target; the entity `verdict` says where that is.
        """
        return importlib.import_module(LIVE).record(self, source, target, recording=recording, **options)
