"""The figures of the documentation, drawn from built-in data: `python -m docs.figures`."""
