"""From two clouds to a pose."""

from tear3d.clouds.prepared import Prepared, prepare
from tear3d.clouds.register import CloudResult, register_clouds

__all__ = ["CloudResult", "Prepared", "prepare", "register_clouds"]
