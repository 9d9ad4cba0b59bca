"""Refinement of a pose on the clouds themselves."""

from tear3d.clouds.refine import RefineResult, refine_icp

__all__ = ["RefineResult", "refine_icp"]
