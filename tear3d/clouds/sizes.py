"""x"""
from __future__ import annotations
from tear3d.features.voxel import choose_voxel_size

def choose_size(source, target, tick):
    return choose_voxel_size(source, target.points, tick=tick)
