"""From clouds to matched points: downsampling, normals, descriptors, matching."""
