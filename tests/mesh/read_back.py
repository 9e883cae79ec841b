# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a mesh with meshio and prints what an independent reader makes of it: counts, volume, sums of the arrays."""
import contextlib
import io
import sys

import meshio
import numpy as np

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    mesh = meshio.read(sys.argv[1])
cells = {"line": 0, "triangle": 0, "quad": 0, "tetra": 0, "hexahedron": 0}
volume = 0.0
for block in mesh.cells:
    cells[block.type] += len(block.data)
    if block.type == "tetra":
        p = mesh.points[block.data]
        volume += np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 3] - p[:, 0]).sum() / 6
print(len(mesh.points), *cells.values(), repr(float(volume)))
for name, data in sorted(mesh.point_data.items()):
    print("point", name, *np.shape(data), repr(float(np.sum(data))))
for name, data in sorted(mesh.cell_data.items()):
    data = np.concatenate(data)
    print("cell", name, *np.shape(data), repr(float(np.sum(data))))
