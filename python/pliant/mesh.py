# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Points and cells, shared with the library without copies."""
import ctypes as c
import os

import numpy as np

from . import _library as _l
from ._arrays import Kept, real_array, index_array


class Mesh:
    """Points and cells of a file, of a box, or of arrays.

    Mesh("liver.msh")                                reads msh, vtk, vtu, obj, stl, ply, mesh
    Mesh(points=x, tetrahedra=t)                     also triangles, quads, hexahedra
    Mesh.box((0, 0, 0), (1, 1, 1), (4, 4, 4))        tetrahedra on a grid

    `points`, `triangles`, `quads`, `tetrahedra`, `hexahedra` are NumPy views of the library's memory, valid as long as anybody
    holds one; they cannot be written.
    """

    _CELLS = {"edges": 2, "triangles": 3, "quads": 4, "tetrahedra": 4, "hexahedra": 8}
    _FIELD = {"edges": ("edges", "edge_count"), "triangles": ("tris", "tri_count"), "quads": ("quads", "quad_count"),
              "tetrahedra": ("tets", "tet_count"), "hexahedra": ("hexes", "hex_count")}

    def __init__(self, path=None, *, points=None, triangles=None, quads=None, tetrahedra=None, hexahedra=None):
        err = _l.PliError()
        host, _ = _l.host()
        self.path = None
        if (path is None) == (points is None):
            raise _l.ArgumentError("a mesh is read from a path or made from points: give one of them")
        if path is not None:
            self.path = os.fspath(path)
            if not isinstance(self.path, str):
                raise _l.ArgumentError(f"a path is text, not {type(self.path).__name__}")
            self._own(_l.lib.pli_mesh_read(c.byref(host), os.fsencode(self.path), c.byref(err)), err)
            return
        cells = {"triangles": triangles, "quads": quads, "tetrahedra": tetrahedra, "hexahedra": hexahedra}
        x = real_array("points", points, (None, 3))
        kept = {name: index_array(name, value, self._CELLS[name], len(x)) for name, value in cells.items() if value is not None}
        arrays = _l.PliMeshArrays(name=b"mesh", type=b"Mesh", position=x.ctypes.data, point_count=len(x))
        singular = {"triangles": "triangle_count", "quads": "quad_count", "tetrahedra": "tetrahedron_count",
                    "hexahedra": "hexahedron_count"}
        for name, value in kept.items():
            setattr(arrays, name, value.ctypes.data)
            setattr(arrays, singular[name], len(value))
        solid = "tetrahedra" in kept
        kind = 2 if "hexahedra" in kept else 0 if solid else 1  # PliMeshKind
        self._own(_l.lib.pli_mesh_from_arrays(c.byref(host), c.byref(arrays), kind, c.byref(err)), err)

    def _own(self, pointer, err):
        if not pointer:
            err.throw()
        self._kept = Kept(pointer, _l.lib.pli_mesh_destroy)

    @classmethod
    def box(cls, low, high, cells, jitter=0.0, seed=0):
        """Tetrahedra of a box on a grid of cells; inner nodes moved by up to `jitter` of a cell (0 .. 0.3)."""
        low, high = real_array("low", low, (3,)), real_array("high", high, (3,))
        n = index_array("cells", cells, 0, None)
        if n.shape != (3,):
            raise _l.ArgumentError(f"cells are three numbers, not {n.shape}")
        if not 0 <= int(seed) < 2**64:
            raise _l.ArgumentError(f"seed = {seed} must be in 0 .. 2^64 - 1")
        d = _l.PliBoxDef((c.c_double * 3)(*low), (c.c_double * 3)(*high), (c.c_uint32 * 3)(*[int(k) for k in n]), float(jitter), int(seed))
        err, (host, _), self = _l.PliError(), _l.host(), cls.__new__(cls)
        self.path = None
        self._own(_l.lib.pli_mesh_box(c.byref(host), c.byref(d), c.byref(err)), err)
        return self

    def surface(self):
        """The boundary of the tetrahedra, as a mesh of triangles."""
        copy = Mesh(points=self.points, tetrahedra=self.tetrahedra)
        if _l.lib.pli_mesh_find_surface(copy._kept.pointer):
            raise _l.error(-1, "no memory for the surface")
        return copy

    def _view(self, name):
        m = self._kept.pointer.contents
        if name == "points":
            return self._kept.view(m.x, (m.point_count, 3), np.float64)
        field, count = self._FIELD[name]
        return self._kept.view(getattr(m, field), (getattr(m, count), self._CELLS[name]), np.uint32)

    points = property(lambda self: self._view("points"), doc="m, [n, 3]")
    edges = property(lambda self: self._view("edges"), doc="[n, 2]")
    triangles = property(lambda self: self._view("triangles"), doc="[n, 3]")
    quads = property(lambda self: self._view("quads"), doc="[n, 4]")
    tetrahedra = property(lambda self: self._view("tetrahedra"), doc="[n, 4]")
    hexahedra = property(lambda self: self._view("hexahedra"), doc="[n, 8], VTK order")

    @property
    def volume(self):
        """m3, of the tetrahedra."""
        return _l.lib.pli_mesh_volume(self._kept.pointer)

    def write(self, path):
        """Writes .msh (2.2 ASCII) or .obj (points and triangles), whole or not at all."""
        path, err = os.fspath(path), _l.PliError()
        if not path.endswith((".msh", ".obj")):
            raise _l.ArgumentError(f"{path}: meshes are written as .msh or .obj")
        call = _l.lib.pli_mesh_write_msh if path.endswith(".msh") else _l.lib.pli_mesh_write_obj
        _l.check(call(self._kept.pointer, os.fsencode(path), c.byref(err)), err)

    def __repr__(self):
        cells = ", ".join(f"{len(self._view(n))} {n}" for n in self._CELLS if len(self._view(n)))
        return f"<pliant.Mesh: {len(self.points)} points{', ' if cells else ''}{cells}>"

    def _arrays(self):
        """For a body that is made from it."""
        a = _l.PliMeshArrays(name=b"mesh", type=b"Mesh")
        m = self._kept.pointer.contents
        address = lambda p: c.cast(p, c.c_void_p).value  # noqa: E731
        a.position, a.point_count = address(m.x), m.point_count
        a.triangles, a.triangle_count = address(m.tris), m.tri_count
        a.quads, a.quad_count = address(m.quads), m.quad_count
        a.tetrahedra, a.tetrahedron_count = address(m.tets), m.tet_count
        a.hexahedra, a.hexahedron_count = address(m.hexes), m.hex_count
        return a
