/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SUBELEMENTS_H
#define PLI_SUBELEMENTS_H

#include <pliant/mesh.h>

/// Appends the faces and edges of larger cells that are not there yet, in SOFA's order (MeshLoader createSubelements).
PliStatus pli_mesh_make_subelements(PliMesh *mesh);
/// Triangles of the boundary of tetrahedra: faces that belong to one tetrahedron only, in the order of the first of them, corners
/// as SOFA's face numbering has them. `out` has room for 4 x count triangles. Returns how many.
PliStatus pli_boundary_triangles(const PliHost *host, const PliIndex *tets, PliIndex count, PliIndex *out,
                                 PliIndex *found);

/// Edges of cells, each once, in a new array of `count` pairs; free it with pli_cell_edges_free.
PliStatus pli_cell_edges(const PliHost *host, PliCellKind kind, const PliIndex *cells, PliIndex cell_count,
                         PliIndex **edges, PliIndex *count);
void pli_cell_edges_free(const PliHost *host, PliIndex *edges, PliCellKind kind, PliIndex cell_count); ///< NULL is fine

#endif
