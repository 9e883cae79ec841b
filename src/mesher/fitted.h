/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MESHER_FITTED_H
#define PLI_MESHER_FITTED_H

// A lattice of hexahedra whose boundary lies on a closed surface: cubes that are well inside, and one layer of hexahedra from
// their boundary to the surface, so that no cell has two faces on it.

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliFittedDef {
    PliIndex cells; ///< along the longest side of the surface, 3 .. 200
    /// Control vertices of a smooth basis: not they but the limit of the boundary after Catmull and Clark lies on the surface.
    bool smooth;
} PliFittedDef;

typedef struct PliFittedFacts {
    PliIndex points, cells, outer; ///< outer: cells with a face on the surface
    double least, mean; ///< scaled Jacobian, least of the corners of a cell: 1 for a cube, 0 or less: inside out
    PliIndex poor;      ///< cells below 0.2
    double worst_at[3]; ///< m, middle of the worst
    double volume;      ///< m3, of the hexahedra
    double off;         ///< m, furthest vertex (smooth: limit of one) from the surface
} PliFittedFacts;

/// `surface` comes from pli_surface_clean. NULL: refused; where cells are inside out the sentence says how many, and where.
PliMesh *pli_fitted_hexes(const PliHost *host, const PliMesh *surface, const PliFittedDef *def, PliFittedFacts *facts,
                          PliError *err);
double pli_scaled_jacobian(const double *x, const PliIndex corner[8]); ///< of a hexahedron, VTK order

#ifdef __cplusplus
}
#endif
#endif
