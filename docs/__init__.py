"""The documentation: pages, the figures in them, and the code blocks that the tests run."""
