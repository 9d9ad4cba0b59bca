"""A still picture of a figure, for where nothing can run: PNG, without a browser and without a network."""

from tear3d.report.picture.draw import png

__all__ = ["png"]
