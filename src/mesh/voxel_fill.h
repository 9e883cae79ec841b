/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_VOXEL_FILL_H
#define PLI_VOXEL_FILL_H

#include "mesh/voxel.h"

// Which lattice cells have their centre inside: sets cell_of to 1 there (0 elsewhere on entry).

/// tet_of, one entry per lattice cell, receives the tetrahedron of each solid cell (the lowest when several claim it).
void pli_voxel_fill_tets(PliVoxels *v, const PliMesh *mesh, PliIndex *tet_of, double *volume);
/// PLI_BAD_MESH when the surface is open.
PliStatus pli_voxel_fill_surface(PliVoxels *v, const PliMesh *mesh, double *volume, PliError *err);

#endif
