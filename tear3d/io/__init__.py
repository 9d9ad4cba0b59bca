"""Reading and writing of point clouds and poses; each format's library is imported when first needed."""

from tear3d.io.atomic import atomic_write
from tear3d.io.cloud import Cloud
from tear3d.io.clouds import read_cloud, write_cloud
from tear3d.io.poses import read_pose, write_pose

__all__ = ["Cloud", "atomic_write", "read_cloud", "read_pose", "write_cloud", "write_pose"]
