/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CELLS_H
#define PLI_CELLS_H

#include <pliant/mesh.h>

/// One cell array of a mesh by kind, so that readers and writers can loop over kinds.
typedef struct PliCells {
    PliIndex **index; ///< shape [*count, width]
    PliIndex *count;
    PliIndex width; ///< corners of a cell
} PliCells;
PliCells pli_mesh_cells(PliMesh *mesh, PliCellKind kind);

#endif
