"""A plotly figure that brings a still picture along, for pages on which nothing runs."""

from __future__ import annotations

import base64
import os
from typing import Any

import plotly.io as pio
from plotly.graph_objects import Figure

from tear3d.report.picture import png

LIVE = "application/vnd.plotly.v1+json"
LEFT_TO_US = {"plotly_mimetype", "plotly_mimetype+notebook", "jupyterlab", "nteract", "vscode"}
"""What plotly chooses for a notebook. The first says nothing to `nbconvert`; the HTML of the second says nothing to
what reads Markdown."""
ALT = "a still picture of the figure"
SERVED = "JPY_SESSION_NAME"
"""Jupyter's server sets this for the kernel of a notebook that somebody looks at; `nbconvert --execute` does not."""


class PicturedFigure(Figure):  # type: ignore[misc]
    """A figure of plotly, with a PNG beside it in a notebook.

    JupyterLab shows the figure, and what cannot run it (`nbconvert`, a site, a page of a repository) shows the picture;
    so does JupyterLab for a notebook that `nbconvert` ran, until it is run again. Nothing is fetched from a network. A
    renderer that was chosen with `plotly.io.renderers.default` is left to do its work: with `"notebook"`, HTML that
    `nbconvert` writes can be turned by hand, and holds all of plotly.js.
    """

    def to_png(self) -> bytes:
        """The picture that goes along; drawn without a browser."""
        return png(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, validate: bool = True, **kwargs: Any) -> Any:
        if pio.renderers.default not in LEFT_TO_US:
            return super()._repr_mimebundle_(include, exclude, validate, **kwargs)
        return self._bundle()

    def _ipython_display_(self) -> None:
        if pio.renderers.default in LEFT_TO_US and pio.renderers.render_on_display:
            from IPython.display import display

            display(self._bundle(), raw=True)
        else:
            super()._ipython_display_()

    def show(self, *args: Any, **kwargs: Any) -> Any:
        """As that of plotly; without arguments, in a notebook, with the picture beside it."""
        if args or kwargs or pio.renderers.default not in LEFT_TO_US:
            return super().show(*args, **kwargs)
        return self._ipython_display_()

    def _bundle(self) -> dict[str, Any]:
        bundle = pio.renderers["plotly_mimetype"].to_mimebundle(self.to_dict())
        picture = base64.b64encode(self.to_png()).decode("ascii")
        # Where plotly's extension of JupyterLab finds a PNG it shows that and not the figure: there it comes as HTML.
        if SERVED in os.environ:
            return {LIVE: bundle[LIVE], "text/html": f'<img alt="{ALT}" src="data:image/png;base64,{picture}">'}
        return {LIVE: bundle[LIVE], "image/png": picture}
