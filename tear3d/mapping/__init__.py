"""From many scans to one map."""
