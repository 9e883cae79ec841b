# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Readers of everything the program writes, into NumPy and pandas.

    columns("report/bodies.csv")        any CSV: {column: array}
    frame("report/series.csv")          the same as a pandas table
    json_frame("report/compare.json")   the rows of a JSON report (bodies, cases, results) as a pandas table
    recording("hand.txt")               what a user did in the window, step by step
    series("out/liver.pvd")             a VTU series: times, points, fields
"""
import csv
import io
import json
import pathlib
import re
import struct
from collections import namedtuple

import numpy as np

from . import _library as _l

ROWS = ("bodies", "cases", "results", "components")  # where JSON reports keep their rows

_WORDS = ("hash", "id", "scene", "body", "scheme", "parameters", "status", "reason")  # never numbers, whatever they look like


def _text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError, TypeError) as cause:
        raise _l.FileError(f"{path} cannot be read: {cause}", 2) from None


def columns_of(text, name="table"):
    """The columns of CSV text: numbers where all are numbers (an empty field is NaN), else text."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        raise _l.FileError(f"{name} is empty", 2)
    head, body = rows[0], [r for r in rows[1:] if r]
    for k, row in enumerate(body):
        if len(row) != len(head):
            raise _l.FileError(f"{name}: row {k + 2} has {len(row)} fields, and the heading {len(head)}", 2)
    out = {}
    for k, column in enumerate(head):
        values = [row[k] for row in body]
        try:
            if column in _WORDS or column.endswith("bound"):
                raise ValueError
            out[column] = np.array([float(v) if v else np.nan for v in values])
        except ValueError:
            out[column] = np.array(values, dtype=object)
    return out


def columns(path):
    """Any CSV file of ours, as arrays by the name of their column."""
    return columns_of(_text(path), str(path))


def _pandas():
    try:
        import pandas
        return pandas
    except ImportError:
        raise ImportError("pandas is not installed (Debian: python3-pandas); pliant.read.columns needs only NumPy") from None


def frame_of(text):
    return _pandas().DataFrame(columns_of(text))


def frame(path):
    """Any CSV file of ours, as a pandas table."""
    return _pandas().DataFrame(columns(path))


def json_report(path):
    """A JSON report, with its `schema` checked."""
    try:
        report = json.loads(_text(path))
    except json.JSONDecodeError as cause:
        raise _l.FileError(f"{path} is no JSON: {cause}", 2) from None
    if not isinstance(report, dict) or report.get("schema") != 1:
        raise _l.FileError(f"{path} is no report this package knows: it needs schema 1", 2)
    return report


def json_frame(path):
    """The rows of a JSON report as a pandas table; nested figures become name.part."""
    report = json_report(path)
    rows = next((report[key] for key in ROWS if key in report), None)
    return _pandas().json_normalize(rows if rows is not None else [report])


Recording = namedtuple("Recording", "scene tool place grabbing at target sliders")
Recording.__doc__ = """What a user did, one row per step: number of the steered tool (-1: none) and its place, whether the skin was
grabbed, where and where to; `sliders`: {attribute: value} of each step."""


def recording(path):
    """A recording of the window."""
    lines = _text(path).splitlines()
    if not lines or not lines[0].startswith("# pliant recording 2:"):
        raise _l.FileError(f"{path} is no recording of this program", 2)
    scene, rows, sliders = "", [], []
    for k, line in enumerate(lines[1:], 2):
        if line.startswith("# scene "):
            scene = line[8:]
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        try:
            numbers = [float(w) for w in words[:11]]
            sliders.append({w.split("=")[0]: float(w.split("=")[1]) for w in words[11:]})
            if len(numbers) != 11 or not np.isfinite(numbers).all():
                raise ValueError
        except (ValueError, IndexError):
            raise _l.FileError(f"{path}:{k}: a step has 11 numbers, and attribute=value of sliders", 2) from None
        rows.append(numbers)
    a = np.array(rows).reshape(-1, 11)
    return Recording(scene, a[:, 0].astype(int), a[:, 1:4], a[:, 4] != 0, a[:, 5:8], a[:, 8:11], sliders)


# ---- VTU ---------------------------------------------------------------------------------------------------------------------

_TYPES = {"Float64": "<f8", "Float32": "<f4", "Int32": "<i4", "UInt32": "<u4", "Int64": "<i8", "UInt64": "<u8", "UInt8": "u1", "Int8": "i1"}
Vtu = namedtuple("Vtu", "points connectivity offsets point_data cell_data")


def vtu(path):
    """One VTU file of ours: points, cells and fields."""
    try:
        data = pathlib.Path(path).read_bytes()
    except (OSError, ValueError, TypeError) as cause:
        raise _l.FileError(f"{path} cannot be read: {cause}", 2) from None
    start = data.find(b"<AppendedData")
    start = data.find(b"_", start) + 1 if start >= 0 else 0
    if start <= 0:
        raise _l.FileError(f"{path} is no VTU file with appended data", 2)
    head = data[:start].decode("utf-8", "replace")
    size = struct.Struct("<Q" if 'header_type="UInt64"' in head else "<I")
    out = {"Points": {}, "Cells": {}, "PointData": {}, "CellData": {}}
    for part, fields in re.findall(r"<(Points|Cells|PointData|CellData)\b[^>]*>(.*?)</\1>", head, re.DOTALL):
        for attributes in re.findall(r"<DataArray\b([^>]*)/?>", fields):
            a = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            if a.get("type") not in _TYPES or "offset" not in a:
                continue
            at = start + int(a["offset"])
            count = size.unpack_from(data, at)[0]
            array = np.frombuffer(data, _TYPES[a["type"]], count // np.dtype(_TYPES[a["type"]]).itemsize, at + size.size)
            width = int(a.get("NumberOfComponents", 1))
            out[part][a.get("Name", "points")] = array.reshape(-1, width) if width > 1 else array
    points = next(iter(out["Points"].values()), np.zeros((0, 3)))
    return Vtu(points, out["Cells"].get("connectivity"), out["Cells"].get("offsets"), out["PointData"], out["CellData"])


Series = namedtuple("Series", "times frames")
Series.__doc__ = "times: [n], s; frames: a Vtu for each, read when it is asked for."


class _Frames:
    def __init__(self, files):
        self._files = files

    def __len__(self):
        return len(self._files)

    def __getitem__(self, k):
        return vtu(self._files[k])


def series(path):
    """A PVD collection: times, and the VTU files."""
    text = _text(path)
    folder = pathlib.Path(path).parent
    found = []
    for attributes in re.findall(r"<DataSet\b([^>]*)/?>", text):
        a = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
        found.append((float(a["timestep"]), folder / a["file"]))
    if not found:
        raise _l.FileError(f"{path} is no PVD collection", 2)
    return Series(np.array([t for t, _ in found]), _Frames([f for _, f in found]))
