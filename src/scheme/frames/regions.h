/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_REGIONS_H
#define PLI_FRAMES_REGIONS_H

// Integration regions of the finest level and the tree they were split from; mass of the finest level. Made once.

#include "scheme/frames/layout.h"

enum { PLI_REGION_SAMPLES = 4, PLI_REGION_FRAMES = 16 }; ///< most frames that act in one finest region

/// Node of the splitting tree. Leaves are the finest regions; an inner node is what its two children may merge into.
typedef struct PliRegionNode {
    PliIndex child[2]; ///< PLI_NONE for a leaf
    PliIndex parent;   ///< PLI_NONE for the top of a connected piece
    PliIndex leaf;     ///< number of the finest region, or PLI_NONE
} PliRegionNode;

typedef struct PliFrameRegions {
    PliHost host;
    PliIndex count;
    PliIndex *frame_first; ///< count + 1
    PliIndex *frame;       ///< frames that act in each region, ascending
    size_t *grad_first;    ///< count + 1, into grad
    double *grad;          ///< 1/m, [4 samples, frames of the region, 4 coefficients, 3]
    double *point;         ///< m, [count, 4, 3]
    double *volume;        ///< m3, of the whole region
    double *stiffness;     ///< mean factor of Young's modulus
    uint8_t *antilock;
    PliRegionNode *node; ///< children come before parents
    PliIndex node_count;
    double residual; ///< share of the squared gradients that is not linear, over all regions
    size_t frame_capacity, grad_capacity;
    PliIndex capacity;
} PliFrameRegions;

PliFrameRegions *pli_frame_regions_create(const PliHost *host, const PliVoxels *v, const PliFrameLayout *l,
                                          const PliFramesDef *def, PliError *err);
void pli_frame_regions_destroy(PliFrameRegions *r);

/// Symmetric matrix of 4x4 blocks over pairs of frames that share a voxel, kg.
typedef struct PliFrameMass {
    PliHost host;
    PliIndex count;
    PliIndex *first, *column; ///< by rows, ascending, both triangles
    double *block;            ///< [.., 16]
    double *lumped;           ///< [count, 16]: int rho phi_i {xi, 1} {xi, 1}^T
    double total;             ///< kg
    size_t capacity;
} PliFrameMass;
PliFrameMass *pli_frame_mass_create(const PliHost *host, const PliVoxels *v, const PliFrameLayout *l,
                                    const PliFramesDef *def, PliError *err);
void pli_frame_mass_destroy(PliFrameMass *m);

#endif
