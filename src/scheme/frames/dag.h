/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DAG_H
#define PLI_DAG_H

// Affine frames in a directed acyclic graph. A frame i holds four Vec3 coefficients, three columns and an origin, of the map
// p(X) = sum_c u_c xi_c + u_3, xi = (X - x_i) / s_i. A passive frame is the blend of its parents, times an offset on the right:
//   U_i = (sum_k w_ik U_k) D_i,   D_i = [A b; 0 1] in the frame's own coordinates,
// which is linear in the parents' coefficients: four by four scalars per parent, the same for x, y and z. Offsets are relative
// to the immediate parents, so that (de)activating a frame leaves those of all others alone.

#include <pliant/transfer.h>

/// One row of 4x4 blocks per frame, over frames of a set. Rows have fixed places, sized for all ancestors.
typedef struct PliDagRows {
    size_t *first;    ///< count + 1
    PliIndex *used;   ///< entries of each row
    PliIndex *column; ///< ascending within a row
    double *block;    ///< [.., 16], row-major: weight of coefficient d of the column in coefficient c of the row
} PliDagRows;

typedef struct PliDag {
    PliHost host;
    PliIndex count, edge_count;
    double *x, *scale;
    PliIndex *parent_first, *parent, *child_first, *child;
    double *parent_weight;
    double *offset;  ///< [count, 12]: A row-major, b
    uint8_t *active; ///< a frame is active only when all its parents are
    uint8_t *pinned; ///< stays active, with all its ancestors
    PliIndex *active_list, active_count;
    PliIndex *candidate_list, candidate_count; ///< passive frames whose parents are all active
    PliDagRows over_active;                    ///< T: every frame from the active ones
    PliDagRows over_candidates;                ///< the same from active frames and candidates
    uint64_t revision;
    uint64_t *changed;           ///< revision at which the row of each frame over active ones last changed
    uint64_t *changed_candidate; ///< and over active ones and candidates
    uint8_t *moved;              ///< offset or state changed since the last refresh
    // scratch
    uint8_t *was_candidate;
    PliIndex *slot;
    double *dense; ///< [count, 16]
    size_t entry_capacity;
    // rows as scalars, for W
    PliIndex *scalar_first, *scalar_column;
    double *scalar_weight;
    size_t scalar_capacity;
} PliDag;

/// Frames in an order in which parents come first; frame 0 is the root (no parents). Weights of each frame sum to 1.
PliDag *pli_dag_create(const PliHost *host, PliIndex count, const double *x, const double *scale,
                       const PliIndex *parent_first, const PliIndex *parent, const double *parent_weight);
void pli_dag_destroy(PliDag *dag);
void pli_dag_reset(PliDag *dag); ///< root and pinned frames active, no offsets
/// Keeps the frames with pinned[i] != 0 and their ancestors active from now on.
void pli_dag_pin(PliDag *dag, const uint8_t *pinned);

bool pli_dag_may_activate(const PliDag *dag, PliIndex i);
bool pli_dag_may_deactivate(const PliDag *dag, PliIndex i); ///< no active child, neither root nor pinned
void pli_dag_activate(PliDag *dag, PliIndex i);
/// Measures the offset of frame i against its parents at coefficients u (4 Vec3 per frame).
/// False, nothing changed, when the blend of the parents is too flat to carry it (det < 0.1 or condition > 100).
bool pli_dag_deactivate(PliDag *dag, PliIndex i, const double *u);
bool pli_dag_measure_offset(PliDag *dag, PliIndex i, const double *u); ///< the same for a frame that is passive already
/// Brings lists and rows up to date after changes. Only rows that depend on a change are made again.
void pli_dag_refresh(PliDag *dag);

/// Weights of the coefficients of parent number e (of parent_first[i] .. ) in those of frame i.
void pli_dag_parent_block(const PliDag *dag, PliIndex i, PliIndex e, double block[16]);
void pli_dag_spread(const PliDag *dag, double *u); ///< passive = W active, positions or velocities
PliRows pli_dag_rows(const PliDag *dag); ///< W as scalars in coefficient numbers; valid until the next refresh
bool pli_dag_is_valid(const PliDag *dag, PliError *err);

#endif
