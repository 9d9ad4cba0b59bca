"""LAS and LAZ, through laspy: scale, offset, records and point format of the file that a cloud was read from stay."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError, TearError
from tear3d.io.checks import load_package
from tear3d.io.cloud import Cloud
from tear3d.io.columns import GROUPS, SINGLE, Columns, plain_name, spread
from tear3d.io.joining import recoloured
from tear3d.io.las import WKT
from tear3d.io.las_scale import fit_scaling
from tear3d.io.reference import says

LONGEST_NAME = 32
WITH_COLOURS = {0: 2, 1: 3, 4: 5, 6: 7, 9: 10}
"""Point formats that have colours as well."""
NORMALS = ("NormalX", "NormalY", "NormalZ")
KINDS = {"?": np.dtype(np.uint8), "e": np.dtype(np.float32)}
"""Types that LAS has not, and what holds their numbers."""
STALE = ("copc", "laszip encoded")
"""Records that describe how the points lay in the old file."""


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    laspy = load_package("laspy", "las", "writing LAS files")
    backend = None
    if suffix == ".laz":
        load_package("lazrs", "las", "writing LAZ files")
        backend = laspy.LazBackend.Lazrs
    try:
        _points(laspy, cloud).write(handle, do_compress=suffix == ".laz", laz_backend=backend)
    except TearError:
        raise
    except Exception as error:
        raise InputError(f"the cloud cannot be written as {suffix} ({error})") from error


def _points(laspy: Any, cloud: Cloud) -> Any:
    """The cloud as laspy has it."""
    header = _header(laspy, cloud)
    columns = _columns(header, cloud)
    standard: Columns = {}
    extra: Columns = {}
    for name, values in columns.items():
        known = name in header.point_format.dimension_names
        if known and _fits(header.point_format.dimension_by_name(name), values):
            standard[name] = values
        else:
            plain = plain_name(f"scalar_{name}" if known else name, [])[:LONGEST_NAME]
            extra[plain_name(plain, (*header.point_format.dimension_names, *extra))[-LONGEST_NAME:]] = values
    unused = [name for name in header.point_format.extra_dimension_names if name not in standard]
    header.remove_extra_dims([name for name in unused if name != "ExtraBytes"])
    types = {name: KINDS.get(values.dtype.char, values.dtype) for name, values in extra.items()}
    header.add_extra_dims([laspy.ExtraBytesParams(name, kind) for name, kind in types.items()])
    points = laspy.LasData(header, laspy.ScaleAwarePointRecord.zeros(len(cloud), header=header))
    points.x, points.y, points.z = cloud.points.T
    if "return_number" not in columns:
        points["return_number"] = points["number_of_returns"] = np.ones(len(cloud), np.uint8)
    for name, values in (standard | extra).items():
        points[name] = values
    return points


def _header(laspy: Any, cloud: Cloud) -> Any:
    colours = "colors" in cloud.attributes
    if cloud.las is None:
        header = laspy.LasHeader(point_format=7 if colours else 6, version="1.4")
    else:
        header = cloud.las.copy()
        header.vlrs = [vlr for vlr in header.vlrs if vlr.user_id.rstrip("\0") not in STALE]
        header.start_of_waveform_data_packet_record, header.extra_vlr_bytes, header.evlrs = 0, b"", None
        if colours and header.point_format.id in WITH_COLOURS:
            wider = laspy.PointFormat(WITH_COLOURS[header.point_format.id])
            wider.dimensions.extend(header.point_format.extra_dimensions)
            header.set_version_and_point_format(header.version, wider)
    header.scales, header.offsets = fit_scaling(cloud.points, None if cloud.las is None else cloud.las)
    _set_crs(laspy, header, cloud.crs)
    return header


def _set_crs(laspy: Any, header: Any, crs: str | None) -> None:
    held = [getattr(vlr, "string", None) for vlr in header.vlrs if (vlr.user_id, vlr.record_id) == WKT]
    if crs is None or held == [crs]:
        return
    kept = [vlr for vlr in header.vlrs if not says(vlr)]
    header.vlrs = [*kept, laspy.vlrs.known.WktCoordinateSystemVlr(crs)]
    header.global_encoding.wkt = True


def _columns(header: Any, cloud: Cloud) -> Columns:
    """Attributes under the names of the dimensions that they have in the file."""
    names = {name.lower(): name for name in header.point_format.dimension_names}
    direct: Columns = {}
    others: Columns = {}
    for name, values in cloud.attributes.items():
        if name in ("colors", "normals"):
            usual = ("red", "green", "blue") if name == "colors" else NORMALS
            held = next((choice for choice in GROUPS[name] if all(each in names for each in choice)), None)
            part = recoloured(values, np.dtype(np.uint16)) if name == "colors" else values
            direct |= dict(zip(usual if held is None else [names[each] for each in held], part.T, strict=True))
        elif name in names.values():
            direct[name] = values
        else:
            alike = [names[each] for each, single in SINGLE.items() if single == name and each in names]
            if alike and values.ndim == 1:
                direct[alike[0]] = values
            else:
                others[name] = values
    return direct | {plain_name(name, direct): values for name, values in spread(others).items()}


def _fits(dimension: Any, values: NDArray[Any]) -> bool:
    """Whether a dimension of the file holds these numbers."""
    if values.shape[1:] != (() if dimension.num_elements == 1 else (dimension.num_elements,)):
        return False
    if dimension.kind.name == "FloatingPoint" or dimension.is_scaled:
        return True
    if values.dtype.kind == "f" and not (np.isfinite(values).all() and np.array_equal(values, np.rint(values))):
        return False
    bits = dimension.num_bits // dimension.num_elements
    signed = dimension.kind.name == "SignedInteger"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return bool(len(values) == 0 or (values.min() >= low and values.max() <= high))
