"""From two clouds to a pose."""

from tear3d.clouds.prepared import Prepared, prepare
from tear3d.clouds.register import CloudResult, register_clouds
from tear3d.clouds.thin import downsample

__all__ = ["CloudResult", "Prepared", "downsample", "prepare", "register_clouds"]
