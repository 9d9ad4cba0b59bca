"""`python -m docs.figures [NAME ...]` draws the figures of these groups, or of all, into docs/images."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

GROUPS = ("bounds", "search", "noise", "priors", "scale", "screens", "instances")


def main(names: list[str]) -> None:
    folder = Path(__file__).resolve().parents[1] / "images"
    folder.mkdir(exist_ok=True)
    for name in names or GROUPS:
        if name not in GROUPS:
            sys.exit(f"no figures called {name!r}: expected {', '.join(GROUPS)}")
        importlib.import_module(f"docs.figures.{name}").draw(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
