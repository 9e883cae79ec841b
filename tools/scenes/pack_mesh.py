#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Tetrahedra of a msh 2.2 file as a packed VTU file, a fifth of the size.

usage: pack_mesh.py FROM.msh TO.vtu

The livers between two levels were made so, with gmsh 4.8.4:
    pliant mesh scenes/meshes/liver_surface.obj --levels 1 --nodes 3000 --out A     # A/level_0.msh: liver_1b.vtu
    pliant mesh scenes/meshes/liver_surface.obj --levels 1 --nodes 13500 --out B    # B/level_0.msh: liver_2b.vtu
"""
import array
import base64
import pathlib
import struct
import sys
import zlib


def read(path):
    lines = iter(path.read_text().splitlines())
    points, number, tets = [], {}, []
    for line in lines:
        if line == "$Nodes":
            for _ in range(int(next(lines))):
                index, *x = next(lines).split()
                number[index] = len(number)
                points += map(float, x)
        if line == "$Elements":
            for _ in range(int(next(lines))):
                _, kind, tags, *rest = next(lines).split()
                if kind == "4":
                    tets += [number[i] for i in rest[int(tags):]]
    return points, tets


def data_array(kind, name, width, code, values):
    """One zlib block behind VTK's header, in base64."""
    data = array.array(code, values)
    if sys.byteorder == "big":
        data.byteswap()
    raw, packed = data.tobytes(), zlib.compress(data.tobytes(), 9)
    head = base64.b64encode(struct.pack("<4I", 1, len(raw), 0, len(packed))).decode()
    return (f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="binary">'
            f"{head}{base64.b64encode(packed).decode()}</DataArray>")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    points, tets = read(pathlib.Path(sys.argv[1]))
    count = len(tets) // 4
    pathlib.Path(sys.argv[2]).write_text("\n".join([
        '<?xml version="1.0"?>',
        '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian" compressor="vtkZLibDataCompressor">',
        f'<UnstructuredGrid><Piece NumberOfPoints="{len(points) // 3}" NumberOfCells="{count}">',
        "<Points>", data_array("Float32", "Points", 3, "f", points), "</Points>",
        "<Cells>", data_array("Int32", "connectivity", 1, "i", tets),
        data_array("Int32", "offsets", 1, "i", range(4, 4 * count + 1, 4)),
        data_array("UInt8", "types", 1, "B", [10] * count), "</Cells>",
        "</Piece></UnstructuredGrid>", "</VTKFile>", ""]))


if __name__ == "__main__":
    main()
