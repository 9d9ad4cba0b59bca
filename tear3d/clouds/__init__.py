"""From two clouds to a pose."""

from tear3d.clouds.register import CloudResult, register_clouds

__all__ = ["CloudResult", "register_clouds"]
