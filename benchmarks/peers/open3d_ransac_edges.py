"""RANSAC of Open3D that throws triples away before they are counted: sides that disagree, points that stay apart."""

from __future__ import annotations

from benchmarks.peers import FloatArray
from benchmarks.peers.open3d_ransac import PAPER, missing, prepare, sampled

__all__ = ["NAME", "PAPER", "SETTINGS", "missing", "prepare", "register"]

NAME = "RANSAC 100k, edges"
PACKAGE = "open3d-cpu"
SETTINGS = (
    "as RANSAC 100k, and the two checkers of Open3D's tutorial on global registration: the sides of a triple agree "
    "within a ratio of 0.9, its points come within the noise bound of each other. Triples that fail count as "
    "iterations"
)
SIDES = 0.9


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import open3d as o3d

    registration = o3d.pipelines.registration
    checkers = [
        registration.CorrespondenceCheckerBasedOnEdgeLength(SIDES),
        registration.CorrespondenceCheckerBasedOnDistance(noise_bound),
    ]
    return sampled(source, target, noise_bound, checkers)
