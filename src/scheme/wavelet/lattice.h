/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LATTICE_H
#define PLI_LATTICE_H

// Control lattices of subdivision volumes: tetrahedra, prisms and hexahedra that share vertices, edges and faces, with tags that keep
// edges and corners of the boundary sharp. One subdivision gives hexahedra only. Vertices of a finer lattice are numbered: those of
// the coarser one (even), then one per edge, per face and per cell (odd), so that a vertex keeps its number for good.

#include <pliant/mesh.h>
#include <pliant/transfer.h>

#include "mesh/inside.h"

typedef enum PliLatticeRule {
    PLI_RULE_CC,       ///< volumetric Catmull-Clark
    PLI_RULE_BSWX,     ///< split, then average over cells: the same wherever the lattice is regular, and never singular
    PLI_RULE_TRILINEAR ///< split only
} PliLatticeRule;

typedef struct PliLattice {
    PliHost host;
    PliIndex vertex_count, edge_count, face_count, cell_count;
    size_t edge_capacity, face_capacity;
    double *x;                          ///< m, [vertex_count, 3]
    uint8_t *corner_tag;                ///< per vertex: kept in place
    uint8_t *corners;                   ///< per cell: 4 (tetrahedron), 6 (prism) or 8
    uint8_t *empty;                     ///< per cell: nothing of the body is in it and its cells; NULL: none is empty
    PliIndex *cell;                     ///< [cell_count, 8], VTK order
    PliIndex *cell_edge;                ///< [cell_count, 12]
    PliIndex *cell_face;                ///< [cell_count, 6]
    PliIndex *edge;                     ///< [edge_count, 2]
    uint8_t *sharp;                     ///< per edge
    PliIndex *face;                     ///< [face_count, 4], the last PLI_NONE for triangles
    PliIndex *face_cell;                ///< [face_count, 2], the second PLI_NONE on the boundary
    uint8_t *edge_outer, *vertex_outer; ///< on the boundary
    // who meets: rows of edges and cells at a vertex, faces and cells at an edge, faces at a vertex
    PliIndex *vertex_edge_first, *vertex_edge, *vertex_face_first, *vertex_face, *vertex_cell_first, *vertex_cell;
    PliIndex *edge_face_first, *edge_face, *edge_cell_first, *edge_cell;
    size_t vertex_edges, vertex_faces, vertex_cells, edge_faces, edge_cells;
} PliLattice;

/// Cells as listed (copied). sharp: pairs of vertices. Refuses boundaries that touch themselves along an edge. With `loose` such
/// boundaries are allowed: parts cut out of a lattice.
typedef struct PliLatticeDef {
    const double *x;
    PliIndex vertex_count;
    const PliIndex *cell; ///< [cell_count, 8]
    const uint8_t *corners;
    PliIndex cell_count;
    const PliIndex *sharp; ///< [sharp_count, 2]
    PliIndex sharp_count;
    const PliIndex *corner; ///< vertices kept in place
    PliIndex corner_count;
    bool loose;
} PliLatticeDef;
PliLattice *pli_lattice_create(const PliHost *host, const PliLatticeDef *def, PliError *err);
void pli_lattice_destroy(PliLattice *l); ///< NULL is fine
/// Places and counts stay; cells, edges, faces and who meets are gone: it cannot be subdivided any more.
void pli_lattice_forget_joints(PliLattice *l);

/// Hexahedra and tetrahedra of a mesh; hexahedra with repeated corners are prisms or tetrahedra, pyramids are refused. Boundary edges
/// bent by more than `angle` (degrees) at rest become sharp, and vertices with three of them stay; 180 or more: none.
PliLattice *pli_lattice_from_mesh(const PliHost *host, const PliMesh *mesh, double angle, PliError *err);
bool pli_lattice_check_box(const double min[3], const double max[3], const PliIndex cells[3], PliError *err);
PliLattice *pli_lattice_box(const PliHost *host, const double min[3], const double max[3], const PliIndex cells[3],
                            double angle, PliError *err);
/// Cells of a grid that hold something of a solid, and those that touch them, empty: the functions of smooth rules then are whole
/// wherever the solid is. With `tight`, only the former. cells: along each axis, from `origin`; PLI_BAD_MESH when the solid sticks out.
PliLattice *pli_lattice_grid(const PliHost *host, const PliInside *solid, const double origin[3], const double size[3],
                             const PliIndex cells[3], bool tight, PliError *err);
/// The grid of cubes around a solid: so many along its longest side.
PliStatus pli_lattice_cubes(const PliInside *solid, PliIndex resolution, double origin[3], double size[3],
                            PliIndex cells[3], PliError *err);

/// The finer lattice, and its vertices as rows over those of `l` (owned by the caller).
PliLattice *pli_lattice_subdivide(const PliLattice *l, PliLatticeRule rule, PliTransfer **rows, PliError *err);
PliIndex pli_lattice_find_edge(const PliLattice *l, PliIndex a, PliIndex b); ///< PLI_NONE: there is none

/// Boundary triangles, outward; quads are cut into two. @return how many; tris may be NULL.
PliIndex pli_lattice_surface(const PliLattice *l, PliIndex *tris);

// local numbers, VTK order
extern const uint8_t pli_hex_edge[12][2], pli_hex_face[6][4];
static inline int pli_cell_edges(int corners) { return corners == 8 ? 12 : corners == 6 ? 9 : 6; }
static inline int pli_cell_faces(int corners) { return corners == 8 ? 6 : corners == 6 ? 5 : 4; }
const uint8_t *pli_cell_edge(int corners, int e);             ///< two corners
const uint8_t *pli_cell_face(int corners, int f, int *count); ///< outward

#endif
