"""Certified 3D registration of point pairs when almost all of them are wrong."""
__version__ = "0.1.0"
