"""The whole problem at once: a bound of the full saving over all rotations and translations."""

from tear3d.search.full.solve import FullSolution, solve_full

__all__ = ["FullSolution", "solve_full"]
