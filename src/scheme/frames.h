/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_H
#define PLI_FRAMES_H

// What the files of the frames scheme share.

#include "hierarchy/dag.h"
#include "scheme/frames_regions.h"
#include "scheme/scheme.h"

/// Samples of one live region in terms of active frames.
typedef struct PliFramePack {
    size_t first;      ///< place in column; gradients at 48 times it
    PliIndex capacity; ///< frames it may hold
    PliIndex used;
    uint64_t stamp;    ///< revision of the graph it was made with, 0: never
} PliFramePack;

typedef struct PliFrames {
    PliHost host;
    PliFramesDef def; ///< borrowed pointers inside are not used after creation
    PliVoxels *voxels;
    PliFrameLayout *layout;
    PliFrameRegions *regions;
    PliFrameMass *mass;
    PliDag *dag;
    PliIndex count, dof_count;
    double *rest;
    uint8_t *dof_level;
    uint64_t *row_revision;
    double *load; ///< kg, int rho N of every coefficient
    PliIndex *anchor_frame;
    PliIndex anchor_count;
    double *surface_points;
    PliIndex *surface_tris;
    PliIndex surface_point_count, surface_tri_count;

    // contracted regions
    PliFramePack *pack;
    PliIndex *pack_column;
    double *pack_grad; ///< [4 samples, used, 4, 3] per region
    size_t pack_capacity;

    // the cut
    PliIndex *active;
    double *cut_mass, *cut_load;
    PliIndex *mass_first, *mass_column;
    double *mass_value;
    PliIndex *sample_first, *sample_dof;
    double *sample_grad, *sample_volume, *sample_stiffness, *sample_bulk;
    PliIndex active_count, sample_count, sample_capacity;
    size_t mass_capacity, sample_entry_capacity;
    bool has_antilock;
    uint64_t cut_revision; ///< of the graph

    // adaptation
    uint8_t *fixed;      ///< per coefficient: the host moves it
    double *force;       ///< N, on every coefficient at the start of the last step
    double *hat;         ///< N, the same gathered on active frames and candidates
    double *hat_mass;    ///< kg, [count, 16]: lumped mass gathered the same way
    uint64_t hat_revision;
    double *v_before;    ///< m/s, all coefficients at the start of the last step
    double *momentum;    ///< scratch, per coefficient
    double *solve;       ///< scratch of the projection
    PliIndex *age;       ///< decisions since the last change, per frame
    uint8_t *wish;       ///< decision at hand, per frame
    uint64_t predicted;  ///< revision of the graph the stored prediction belongs to, 0: none
    double predicted_dt;
    double peak_kinetic, eta, since_decision;
    PliFramesInfo info;
    // scratch
    PliIndex *slot;
    double *dense, *product; ///< [count, 16]
    uint8_t *mark[2];        ///< per frame
    PliIndex *list[2];
    PliIndex *row_first, *row_item; ///< frames by the active frames they follow
    size_t *row_entry;
} PliFrames;

// frames_cut.c
PliStatus pli_frames_cut_create(PliFrames *s);
void pli_frames_cut_destroy(PliFrames *s);
void pli_frames_refresh_cut(PliFrames *s); ///< brings the cut arrays up to the present graph
void pli_frames_cut(void *self, PliCut *cut);
// frames_adapt.c
PliStatus pli_frames_adapt_create(PliFrames *s);
void pli_frames_adapt_destroy(PliFrames *s);
void pli_frames_adapt_reset(PliFrames *s);
bool pli_frames_adapt(void *self, PliBody *body, double *x, double *v, double dt);

#endif
