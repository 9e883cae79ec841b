/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_MESH_H
#define PLIANT_MESH_H

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Points and cells. Every array is owned by the mesh and freed by pli_mesh_destroy; an absent kind is NULL with count 0.
/// Cells index points from 0. Tetrahedra have positive volume (x1-x0)x(x2-x0).(x3-x0) > 0 after pli_mesh_read.
typedef struct PliMesh {
    PliHost host;
    double *x;       ///< shape [point_count, 3]
    PliIndex *edges; ///< shape [edge_count, 2]
    PliIndex *tris;  ///< shape [tri_count, 3], outward where they bound tets
    PliIndex *quads; ///< shape [quad_count, 4]
    PliIndex *tets;  ///< shape [tet_count, 4]
    PliIndex *hexes; ///< shape [hex_count, 8], VTK order; prisms repeat corners: 0 1 2 2 3 4 5 5
    PliIndex point_count, edge_count, tri_count, quad_count, tet_count, hex_count;
    PliIndex flipped; ///< tetrahedra whose order was reversed on reading to make their volume positive
} PliMesh;

/// An empty mesh; size its arrays with pli_mesh_resize_*. NULL when there is no memory.
PLI_API PliMesh *pli_mesh_create(const PliHost *host);
PLI_API void pli_mesh_destroy(PliMesh *mesh); ///< NULL is fine
/// Allocates (zeroed) or reallocates (kept) one array to the given count and sets the count.
PLI_API PliStatus pli_mesh_resize_points(PliMesh *mesh, PliIndex count);
typedef enum PliCellKind { PLI_EDGE, PLI_TRI, PLI_QUAD, PLI_TET, PLI_HEX } PliCellKind;
PLI_API PliStatus pli_mesh_resize_cells(PliMesh *mesh, PliCellKind kind, PliIndex count); ///< as for points

/// Which cells a mesh is wanted for.
typedef enum PliMeshKind {
    PLI_MESH_TETS,             ///< tetrahedra, or where there are none those of split hexahedra
    PLI_MESH_SOLID_OR_SURFACE, ///< tetrahedra, or where there are none triangles and quads
    PLI_MESH_LATTICE           ///< hexahedra and tetrahedra
} PliMeshKind;
/// What a loader or a topology of a host holds. Borrowed; arrays are flat, counts are those of points and cells.
typedef struct PliMeshArrays {
    const char *name, *type; ///< of the component, for sentences
    const double *position;
    const PliIndex *triangles, *quads, *tetrahedra, *hexahedra;
    size_t point_count, triangle_count, quad_count, tetrahedron_count, hexahedron_count;
} PliMeshArrays;
/// A mesh of the cells of that kind. Tetrahedra of a negative volume are turned, as readers do; those of a lattice are not.
PLI_API PliMesh *pli_mesh_from_arrays(const PliHost *host, const PliMeshArrays *arrays, PliMeshKind kind,
                                      PliError *err);

/// Reads msh 1/2.x/4.1, vtk, vtu, obj, stl, ply, mesh by content and extension. Refuses with file, line or offset, and cause.
PLI_API PliMesh *pli_mesh_read(const PliHost *host, const char *path, PliError *err);
PLI_API PliStatus pli_mesh_write_msh(const PliMesh *mesh, const char *path, PliError *err); ///< msh 2.2 ASCII
PLI_API PliStatus pli_mesh_write_obj(const PliMesh *mesh, const char *path, PliError *err); ///< points and triangles

/// One named array for the VTU writer: `components` doubles per point or per cell.
typedef struct PliField {
    const char *name;
    const double *data;
    int components; ///< 1 or 3
    bool per_cell;
} PliField;
/// VTU, appended raw. `x` overrides the mesh's points when not NULL (deformed positions); volume cells when the mesh has
/// any, else triangles. `note` (may be NULL) is stored as FieldData string `pliant`. Written to a temporary name, then renamed.
PLI_API PliStatus pli_mesh_write_vtu(const PliMesh *mesh, const double *x, const PliField *fields, int field_count,
                                     const char *note, const char *path, PliError *err);
/// (Re)writes a PVD collection for `count` files at `times`, atomically.
PLI_API PliStatus pli_mesh_write_pvd(const char *path, const double *times, const char *const *files, PliIndex count,
                                     PliError *err);

/// Box of tetrahedra on an nx x ny x nz grid of cells, five or six tets a cell, alternating so that neighbours conform and
/// no direction is preferred more than the pattern forces.
typedef struct PliBoxDef {
    double min[3], max[3];
    PliIndex cells[3];
    double jitter; ///< interior nodes moved by up to this fraction of the cell, 0 .. 0.3
    uint64_t seed;
} PliBoxDef;
PLI_API PliMesh *pli_mesh_box(const PliHost *host, const PliBoxDef *def, PliError *err); ///< NULL: see err
/// Five tetrahedra in place of every hexahedron, added to those there are; neighbours meet, no direction is preferred.
PLI_API PliStatus pli_mesh_split_hexes(PliMesh *mesh, PliError *err);
/// Boundary triangles of the tetrahedra, outward, replacing tris.
PLI_API PliStatus pli_mesh_find_surface(PliMesh *mesh);
/// Every tet has volume above `min_quality` (6 sqrt 2 V / l_rms^3) and finite points; one clear sentence otherwise.
PLI_API PliStatus pli_mesh_check_tets(const PliMesh *mesh, double min_quality, PliError *err);
PLI_API double pli_mesh_volume(const PliMesh *mesh); ///< m3, of the tetrahedra

/// Point location in tetrahedra: an AABB tree over rest positions.
typedef struct PliLocator PliLocator;
PLI_API PliLocator *pli_locator_create(const PliHost *host, const double *x, PliIndex point_count, const PliIndex *tets,
                                       PliIndex tet_count); ///< copies; NULL: no memory
PLI_API void pli_locator_destroy(PliLocator *locator);      ///< NULL is fine
/// Tet that contains `p`, or the closest one with extrapolated weights. Ties go to the lowest index.
/// @return distance to that tet, 0 inside. `weights` are barycentric and sum to 1.
PLI_API double pli_locator_find(const PliLocator *locator, const double p[3], PliIndex *tet, double weights[4]);

#ifdef __cplusplus
}
#endif
#endif
