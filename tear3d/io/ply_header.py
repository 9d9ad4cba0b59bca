"""What a PLY header declares."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tear3d.errors import FileFormatError
from tear3d.io.checks import whole_number

ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}


@dataclass(frozen=True)
class Property:
    name: str
    type: str
    """As NumPy spells it, without byte order; of the items, if this is a list."""
    length: str | None = None
    """The type of a list's length; None for a single number."""

    @property
    def least_bytes(self) -> int:
        return int((self.length or self.type)[1])


@dataclass
class Element:
    name: str
    count: int
    properties: list[Property] = field(default_factory=list)

    @property
    def has_lists(self) -> bool:
        return any(p.length for p in self.properties)

    def least_bytes(self, ascii_file: bool) -> int:
        """The least that one row can take: a digit and a separator per value, or empty lists."""
        return sum(2 if ascii_file else p.least_bytes for p in self.properties)


@dataclass(frozen=True)
class Header:
    order: str
    """The byte order as NumPy spells it; empty for text."""
    before: list[Element]
    vertices: Element


def parse(path: Path, lines: list[list[str]]) -> Header:
    """The byte order and the elements up to the vertices."""
    if lines[0] != ["ply"]:
        raise FileFormatError(f"{path}: does not start with 'ply'; not a PLY file")
    order: str | None = None
    elements: list[Element] = []
    for words in lines[1:-1]:
        found = _property(words[1:]) if words[0] == "property" and elements else None
        if found is not None:
            elements[-1].properties.append(found)
        elif words[0] == "element" and len(words) == 3:
            elements.append(Element(words[1], whole_number(path, f"the count of {words[1][:40]}", words[2])))
        elif words[0] == "format" and order is None and len(words) == 3 and words[1] in ORDERS and words[2] == "1.0":
            order = ORDERS[words[1]]
        elif words[0] not in ("comment", "obj_info"):
            raise FileFormatError(f"{path}: the PLY header has the line {' '.join(words)[:60]!r}")
    if order is None:
        raise FileFormatError(f"{path}: the PLY header has no format line (one of {', '.join(ORDERS)})")
    names = [element.name for element in elements]
    if "vertex" not in names:
        raise FileFormatError(f"{path}: has no vertex element, only {', '.join(names)[:100] or 'nothing'}")
    *before, vertices = elements[: names.index("vertex") + 1]
    scalars = [p.name for p in vertices.properties if p.length is None]
    if any(scalars.count(axis) != 1 for axis in "xyz"):
        raise FileFormatError(f"{path}: the vertices need the properties x, y, z; found {', '.join(scalars)[:100]}")
    if not all(element.properties for element in before):
        raise FileFormatError(f"{path}: the PLY header has an element without properties")
    return Header(order, before, vertices)


def _property(words: list[str]) -> Property | None:
    if len(words) == 2 and words[0] in TYPES:
        return Property(words[1], TYPES[words[0]])
    if len(words) == 4 and words[0] == "list" and words[2] in TYPES and TYPES.get(words[1], "f")[0] in "iu":
        return Property(words[3], TYPES[words[2]], TYPES[words[1]])
    return None
