"""From many scans to one map."""

from tear3d.mapping.build import Map, MapProgress, build_map

__all__ = ["Map", "MapProgress", "build_map"]
