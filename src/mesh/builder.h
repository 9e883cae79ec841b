/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BUILDER_H
#define PLI_BUILDER_H

#include <pliant/mesh.h>

#include "mesh/source.h"

/// A mesh being read: arrays that grow, every point and cell checked as it arrives, while the line is still known.
typedef struct PliBuilder {
    PliSource *source; ///< for memory and refusals
    void *x;
    size_t point_count, point_capacity;
    void *cell[PLI_HEX + 1];
    size_t cell_count[PLI_HEX + 1], cell_capacity[PLI_HEX + 1];
    int64_t base; ///< number of the first point in the file's counting, 0 or 1
} PliBuilder;

int pli_cell_width(PliCellKind kind);
const char *pli_cell_name(PliCellKind kind);

/// Room for `more` points or cells, exactly. The caller has bounded the number by the size of the file.
bool pli_builder_reserve_points(PliBuilder *b, size_t more);
bool pli_builder_reserve_cells(PliBuilder *b, PliCellKind kind, size_t more);
bool pli_builder_point(PliBuilder *b, const double p[3]);
/// Corners in the file's counting (see `base`); refuses those that name no point read so far.
bool pli_builder_cell(PliBuilder *b, PliCellKind kind, const int64_t *corner);
/// A prism of two triangles as a hexahedron with repeated corners.
bool pli_builder_prism(PliBuilder *b, const int64_t corner[6]);
/// A polygon of `count` corners as a fan of triangles about its first corner.
bool pli_builder_polygon(PliBuilder *b, const int64_t *corner, size_t count);
/// Hands the arrays to a mesh: drops repeated tets, makes volumes positive, turns boundary triangles outward.
/// NULL: refused.
PliMesh *pli_builder_finish(PliBuilder *b);
void pli_builder_free(PliBuilder *b);

#endif
