/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_EVIDENCE_RIG_H
#define PLI_OCTREE_EVIDENCE_RIG_H

// A box of particles and its state, for cases and timings.

#include <pliant/stages.h>
#include <pliant/octree.h>

typedef struct PliOctreeRig {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    size_t count; ///< dofs
    const double *rest;
    double *x, *v;
    PliState state;
} PliOctreeRig;

/// Without gravity and damping unless `def` says so; its mesh is made here.
bool pli_octree_rig_open(PliOctreeRig *r, PliOctreeDef def, const double size[3], PliError *err);
void pli_octree_rig_close(PliOctreeRig *r);
/// Clamps the wall points whose coordinate along an axis is `at`.
PliStatus pli_octree_rig_hold(PliOctreeRig *r, int axis, double at, PliError *err);
PliOctreeDef pli_octree_still(void); ///< defaults, without gravity
/// Finest active particle that is nearest to a rest point.
PliIndex pli_octree_rig_nearest(const PliOctreeRig *r, const double p[3]);

#endif
