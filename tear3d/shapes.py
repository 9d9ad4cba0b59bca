"""Shapes to try things on."""

from tear3d.lab.shapes import (
    ellipsoid,
    teapot,
    teapot_patches,
)

__all__ = [
    "ellipsoid",
    "teapot",
    "teapot_patches",
]
