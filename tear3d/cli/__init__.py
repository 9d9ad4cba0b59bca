"""The command line. Nothing heavy is imported before a command needs it."""

from tear3d.cli.app import app, main

__all__ = ["app", "main"]
