"""PLY: ascii and both byte orders, through plyfile.

The header is checked against the file's size first. plyfile then sees only the elements up to the
vertices, so that faces are never walked and no list length outside them can matter.
"""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, header_lines, load_package, whole_number

KIND = "PLY"
FORMATS = ("ascii", "binary_little_endian", "binary_big_endian")
SIZES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "float", "int32", "uint32", "float32"), 4),
    **dict.fromkeys(("double", "float64"), 8),
}


@dataclass
class Element:
    name: str
    count: int
    properties: list[list[str]] = field(default_factory=list)
    """The words after `property`: a type and a name, or `list`, two types and a name."""

    @property
    def has_lists(self) -> bool:
        return any(words[0] == "list" for words in self.properties)

    def least_bytes(self, ascii_file: bool) -> int:
        """The least that one row can take: a digit and a separator per value, or empty lists."""
        if ascii_file:
            return 2 * len(self.properties)
        return sum(SIZES[words[1] if words[0] == "list" else words[0]] for words in self.properties)

    def header(self, ascii_file: bool) -> str:
        lines = [f"element {self.name} {self.count}"]
        for words in self.properties:
            # Text often carries more digits than the `float` it is declared as.
            wide = ascii_file and self.name == "vertex" and words[-1] in "xyz" and words[0] != "list"
            lines.append(f"property {'double ' + words[-1] if wide else ' '.join(words)}")
        return "\n".join(lines)


def read(path: Path) -> NDArray[Any]:
    plyfile = load_package("plyfile", "clouds", "reading PLY files")
    size = path.stat().st_size
    with path.open("rb") as handle:
        encoding, elements, more = _parse(path, header_lines(handle, path, KIND, b"end_header"))
        ascii_file = encoding == "ascii"
        lists = any(e.has_lists for e in elements)
        least = sum(e.count * e.least_bytes(ascii_file) for e in elements)
        what = f"its header ({elements[-1].count} vertices)"
        # The last line of an ascii file may lack its newline.
        check_declared(path, what, least - ascii_file, size - handle.tell())
        if not (ascii_file or lists or more):
            return _vertices(plyfile, str(path))
        # plyfile maps real files, which is fast; but there a false list length would allocate as much.
        with io.BytesIO() if ascii_file or lists else tempfile.TemporaryFile() as part:
            part.write(_header(encoding, elements))
            if ascii_file:
                part.writelines(islice(handle, sum(e.count for e in elements)))
            else:
                part.write(handle.read(-1 if lists else least))
            part.seek(0)
            return _vertices(plyfile, part)


def _vertices(plyfile: Any, source: Any) -> NDArray[np.float64]:
    vertex = plyfile.PlyData.read(source)["vertex"]
    return np.column_stack([np.asarray(vertex[axis], dtype=np.float64) for axis in "xyz"])


def _header(encoding: str, elements: list[Element]) -> bytes:
    parts = [element.header(encoding == "ascii") for element in elements]
    return "\n".join(["ply", f"format {encoding} 1.0", *parts, "end_header\n"]).encode()


def _parse(path: Path, lines: list[list[str]]) -> tuple[str, list[Element], bool]:
    """The encoding, the elements up to the vertices, and whether more follow."""
    if lines[0] != ["ply"]:
        raise FileFormatError(f"{path}: does not start with 'ply'; not a PLY file")
    encoding = ""
    elements: list[Element] = []
    for words in lines[1:-1]:
        if words[0] == "format" and len(words) == 3 and words[1] in FORMATS:
            encoding = words[1]
        elif words[0] == "element" and len(words) == 3:
            elements.append(Element(words[1], whole_number(path, f"the count of {words[1]}", words[2])))
        elif words[0] == "property" and elements and _known(words[1:]):
            elements[-1].properties.append(words[1:])
        elif words[0] not in ("comment", "obj_info"):
            raise FileFormatError(f"{path}: the PLY header has the line {' '.join(words)[:60]!r}")
    if not encoding:
        raise FileFormatError(f"{path}: the PLY header has no format line (one of {', '.join(FORMATS)})")
    names = [e.name for e in elements]
    if "vertex" not in names:
        raise FileFormatError(f"{path}: has no vertex element, only {', '.join(names)[:100] or 'nothing'}")
    more = names[-1] != "vertex"
    elements = elements[: names.index("vertex") + 1]
    scalars = [words[1] for words in elements[-1].properties if words[0] != "list"]
    if any(scalars.count(axis) != 1 for axis in "xyz"):
        raise FileFormatError(f"{path}: the vertices need the properties x, y, z; found {', '.join(scalars)[:100]}")
    if not all(e.properties for e in elements):
        raise FileFormatError(f"{path}: the PLY header has an element without properties")
    return encoding, elements, more


def _known(words: list[str]) -> bool:
    if len(words) == 4 and words[0] == "list":
        return words[1] in SIZES and words[2] in SIZES
    return len(words) == 2 and words[0] in SIZES


def write(handle: BinaryIO, points: NDArray[np.float64]) -> None:
    plyfile = load_package("plyfile", "clouds", "writing PLY files")
    rows = np.ascontiguousarray(points).view([(axis, np.float64) for axis in "xyz"])[:, 0]
    plyfile.PlyData([plyfile.PlyElement.describe(rows, "vertex")], byte_order="<").write(handle)
