"""What the library says of its parameters, in the words of the command line: --voxel-size where it has voxel_size."""

from __future__ import annotations

import re
from typing import Any

_ALIASES = {"estimate_scale": "scale", "max_instances": "instances", "refine": "method", "T": "initial"}
"""Parameters of the library that are options under another name."""
_PHRASES = {
    "no ratio, mutual or keypoints": "no --ratio, --mutual or --keypoints",
    ", or None": "",
    "Bring both to one unit": "Bring both to one unit, as with `tear3d transform FILE --scale FACTOR -o NEW`",
}
_AFTER = "is|are|has|have|holds|needs|contains|cannot|and|or"


def as_options(text: str, context: Any) -> str:
    """A message with the options of a command in place of the parameters.

    A name of one word is taken for a parameter only where a message begins with it, or names others like it: it may be
    a word like any other. So are all names where a file has columns of the same names.
    """
    if context is None:
        return text
    options = {str(one.name): max(one.opts, key=len) for one in context.command.params if one.opts[0].startswith("-")}
    named = options | {
        name: options[other] for name, other in _ALIASES.items() if other in options and name not in options
    }
    columns = "manifest" in context.params
    held = re.search(r": holds [^;]*;", text)  # the names of what is in a file
    if held:
        text = text.replace(held[0], "\0")
    for name, option in named.items():
        begins = rf"^{name}(?:\[\d\])?(?=:? (?:{_AFTER})\b|:)"
        if columns:
            text = re.sub(begins, option, text)
        elif "_" in name:
            text = re.sub(rf"(?<![\w/\\.-]){name}(?![\w.]|\w*/)", option, text)
        else:
            text = re.sub(rf"{begins}|(?<=given without ){name}\b|(?<=leave ){name}(?= out)", option, text)
            text = re.sub(rf"\b{name}=(?=['\d])", f"{option}=", text)
    for phrase, spoken in _PHRASES.items():
        text = text.replace(phrase, spoken)
    text = re.sub(r"(?<!\S)(--[\w-]+)=True\b", r"\1", text)
    text = re.sub(r"(?<!\S)(--[\w-]+)='?([\w.-]+)'?", r"\1 \2", text)
    return text.replace("\0", held[0]) if held else text
