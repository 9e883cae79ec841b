/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TETLOD_RIG_H
#define PLI_TETLOD_RIG_H

// A body of tetrahedral levels with its meshes and its state, for the cases and timings of tetlod.

#include <pliant/stages.h>

#include "scheme/tetlod/activeset.h"

enum { PLI_RIG_LEVELS = 8 };

typedef struct PliTetLodRig {
    PliHost host;
    PliMesh *mesh[PLI_RIG_LEVELS];
    int level_count;
    PliBody *body;
    double *x, *v;
    const double *rest;
    size_t count; ///< coefficients
    PliState state;
} PliTetLodRig;

/// Adds one level, coarse to fine. Cubes [0, side]^3 of n cells an edge; `ball` maps them on the ball of radius 1.
bool pli_rig_add_box(PliTetLodRig *rig, PliIndex cells, double side, bool ball, PliError *err);
bool pli_rig_add_file(PliTetLodRig *rig, const char *asset, PliError *err);
/// Undamped, weightless, explicit: what cases start from. Levels are filled by pli_rig_open.
PliTetLodDef pli_rig_def(void);
/// Makes the body from the levels that were added (without them: only closes).
bool pli_rig_open(PliTetLodRig *rig, PliTetLodDef def, PliError *err);
/// The same with uniform finite elements on one of the levels.
void pli_rig_close_body(PliTetLodRig *rig); ///< keeps the meshes
void pli_rig_close(PliTetLodRig *rig);

/// Holds every coefficient at rest with x[axis] <= limit.
bool pli_rig_clamp(PliTetLodRig *rig, int axis, double limit, PliError *err);
void pli_rig_freeze(PliTetLodRig *rig); ///< no more changes of resolution

typedef enum PliRandomEvent {
    PLI_RANDOM_NONE, ///< nothing could be split, or merged
    PLI_RANDOM_SPLIT,
    PLI_RANDOM_MERGE,
    PLI_RANDOM_UNDONE, ///< taken back, as one in eight is
    PLI_RANDOM_REFUSED
} PliRandomEvent;
/// One random split (of what balance asks for first) or merge of the set alone; the body is recut by the caller.
PliRandomEvent pli_rig_random_event(PliActiveSet *set, uint64_t *random, double split_chance);

#endif
