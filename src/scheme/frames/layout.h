/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_LAYOUT_H
#define PLI_FRAMES_LAYOUT_H

// Where the frames of a body are, which coarser frames each one follows, and the shape functions of the finest level on the
// corners of the voxel grid. Made once; nothing here changes while running.

#include <pliant/frames.h>

#include "mesh/voxel.h"

typedef struct PliFrameLayout {
    PliHost host;
    PliIndex count;
    double *x;      ///< m, rest positions, ascending levels
    double *scale;  ///< m, spacing to the neighbours: unit of the frame's own coordinates (X - x) / scale
    uint8_t *level; ///< level at which the frame appears
    int level_count;
    PliIndex *parent_first, *parent; ///< count + 1; parents have lower numbers
    double *parent_weight;           ///< sum to 1
    size_t parent_capacity;
    PliIndex *phi_first; ///< per used corner: its entries are phi_first .. phi_first + phi_count
    uint8_t *phi_count;
    PliIndex *phi_frame; ///< ascending within a corner
    double *phi;         ///< sum to 1
    size_t phi_capacity;
    PliIndex corner_count;
} PliFrameLayout;

PliFrameLayout *pli_frame_layout_create(const PliHost *host, const PliVoxels *v, const PliFramesDef *def,
                                        PliError *err);
void pli_frame_layout_destroy(PliFrameLayout *l);

enum { PLI_FRAMES_PER_CORNER = 12, PLI_FRAMES_PER_POINT = 48 }; ///< most frames that may act on one point
/// Shape functions, gradients (1/m, may be NULL) and mixed second derivatives (1/m2: yz xz xy, may be NULL) at local
/// coordinates t in [0, 1]^3 of a solid cell. Returns how many frames act there, ascending.
PliIndex pli_frame_shape(const PliFrameLayout *l, const PliVoxels *v, PliIndex cell, const double t[3], PliIndex *frame,
                         double *phi, double (*grad)[3], double (*mixed)[3]);

#endif
