/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MESHER_MAKE_H
#define PLI_MESHER_MAKE_H

// Levels of detail of one body from its closed surface.

#include "mesher/quality.h"
#include "mesher/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_MESHER_LEVELS = 8 };

typedef struct PliMesherDef {
    int levels;     ///< 1 .. 8
    PliIndex nodes; ///< about as many in the finest level; used when size is 0
    double size;    ///< m, sides of the finest level
    double ratio;   ///< of the sides of neighbouring levels, default 1.8
    /// Said before each part of the work; may be NULL.
    void (*progress)(int done, int total, const char *what);
    bool (*stopped)(void); ///< somebody wants it to end; may be NULL
} PliMesherDef;
PliMesherDef pli_mesher_default(void);

typedef enum PliMethod {
    PLI_MADE_BY_GMSH,   ///< the surface with even triangles, filled by gmsh
    PLI_MADE_BY_LATTICE ///< cut out of a lattice, where the first way did not work
} PliMethod;

typedef struct PliMade {
    int levels;
    PliMesh *mesh[PLI_MESHER_LEVELS]; ///< coarse to fine, owned
    PliQuality quality[PLI_MESHER_LEVELS];
    double size[PLI_MESHER_LEVELS]; ///< m
    PliMethod method[PLI_MESHER_LEVELS];
    PliError why[PLI_MESHER_LEVELS]; ///< what stopped the first way, where it did not work
    int left_out;                    ///< levels that did not fit, and why the last of them
    PliError left_out_why;
    /// Part of the surface's area that is further from the tetrahedra than their sides, and the largest distance (m): tips that are
    /// thinner than the sides have no tetrahedra of their own, and follow the nearest.
    double lost[PLI_MESHER_LEVELS], lost_by[PLI_MESHER_LEVELS];
    double *thickness; ///< m, of the body at each point of the surface, owned
    PliIndex surface_points;
    PliHost host;
    PliIndex repairs; ///< times creation of the body had to repair a level: 0
} PliMade;

/// `surface` comes from pli_surface_clean; `folder` exists and takes scratch files named gmsh_*, which are removed.
PliStatus pli_mesher_make(const PliHost *host, const PliMesh *surface, const PliMesherDef *def, const char *folder,
                          PliMade *made, PliError *err);
void pli_made_free(PliMade *made);

/// Moves inner nodes of poor tetrahedra (and outer ones of slivers, within the surface) to where the worst around them is better,
/// and drops nodes no tetrahedron uses.
bool pli_mesher_improve(PliMesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
