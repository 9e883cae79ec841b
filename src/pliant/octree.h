/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_OCTREE_H
#define PLIANT_OCTREE_H

// Debunne et al. 1999: particles in an octree inside a closed surface. A particle that deforms too unevenly splits into its eight
// daughters, and merges with them where things are calm. Coefficients: the particles of all levels, coarsest first; then *wall points*, one
// for each direction a cell looks outside: fixing one clamps the cell there. Doc: doc/schemes/octree.md.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PliOctreeForces {
    PLI_OCTREE_CONSISTENT, ///< the Lame equation: exact on quadratic fields inside the body
    PLI_OCTREE_PAPER       ///< the printed operators, which converge to something else
} PliOctreeForces;

typedef struct PliOctreeDef {
    PliBodyDef base;     ///< symplectic steps only
    const PliMesh *mesh; ///< a closed surface, or tetrahedra; read once
    PliIndex resolution; ///< finest cells along the longest side
    int levels;          ///< 1 .. 8; cells of level 0 are 2^(levels - 1) times as large as the finest
    int start_level;     ///< uniform level to start at
    PliOctreeForces operators;
    double
        speed_change; ///< m/s a particle may change its speed by in one substep before the step shortens; -1: half of the speed of sound, 0: off
} PliOctreeDef;
PLI_API PliOctreeDef pli_octree_default(void);                              ///< start from it: it fills `base.cookie`
PLI_API PliStatus pli_octree_check(const PliOctreeDef *def, PliError *err); ///< what can be said without the mesh
/// Octants inside the closed surface of `def->mesh`. NULL with a sentence in `err`.
PLI_API PliBody *pli_octree_create(const PliHost *host, const PliOctreeDef *def, PliError *err);

typedef struct PliOctreeInfo {
    PliIndex cells[8]; ///< of each level
    PliIndex walls;    ///< wall points, coefficients cell_count .. cell_count + walls
    PliIndex cell_count;
    PliIndex corrections; ///< faces next to another level that are corrected now
    PliIndex uncorrected; ///< faces that should be and are not
    double fill;          ///< volume of the mesh over that of the finest cells
} PliOctreeInfo;
PLI_API PliOctreeInfo pli_octree_info(const PliBody *body); ///< zeros for a body of another scheme
/// Splits or merges one cell now, with everything that belongs to an event; for tests and studies. False when it may not.
PLI_API bool pli_octree_event(PliBody *body, const PliState *s, PliIndex cell, bool split);

#ifdef __cplusplus
}
#endif
#endif
