"""The page of results in the docs, made from the JSON lines of a run."""

from benchmarks.page.write import write_page

__all__ = ["write_page"]
