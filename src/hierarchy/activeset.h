/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ACTIVESET_H
#define PLI_ACTIVESET_H

// Which nodes of a hierarchy move by themselves, and what follows from it: the rows of W that give every other node, lumped
// masses, live tetrahedra with the volume left to them, and the slaves those touch. Nothing allocates after creation.
//
// An event is: begin, some splits and merges, affect, commit (or undo at any time after begin). Only what the event reaches
// is recomputed, and it comes out with the same bits as a rebuild.

#include <pliant/transfer.h>

#include "hierarchy/levels.h"

typedef enum PliNodeState {
    PLI_BELOW,  ///< an ancestor is active; follows the coarser tetrahedron around it
    PLI_ACTIVE,
    PLI_REFINED ///< descendants are active; follows the finer tetrahedron around it
} PliNodeState;

typedef struct PliActiveSetDef {
    int ramp;   ///< rings over which the weights of the finer level fade, 0 .. 15
    bool paper; ///< force-based coupling: every tetrahedron around an active node of its level counts in full
    int start_level;
} PliActiveSetDef;

typedef struct PliActiveSet {
    PliHost host;
    const PliLevels *h; ///< borrowed
    PliActiveSetDef def;
    uint8_t *state;

    // ---- W: slots of fixed place and varying use; the rest of a slot repeats its first column with weight 0, so that
    // first .. first+1 is a valid row for any reader
    PliIndex *row_first, *row_count, *column;
    double *weight;
    size_t entry_capacity;
    PliIndex *slot; ///< scratch for widening slots
    uint64_t *row_revision; ///< per node, set to `revision` when its row changes
    uint64_t revision;      ///< the owner's, raised by the owner

    int64_t *mass; ///< per node, units of volume (times density is mass); 0 unless active

    // ---- live tetrahedra
    uint8_t *own;       ///< corners that are not BELOW (paper: that are active)
    uint8_t *zone;      ///< 0 .. ramp + 1: how much of the tetrahedron belongs to its level
    PliIndex *covering; ///< finer tetrahedra in their zone that overlap it
    int64_t *covered;   ///< units times (ramp + 1)
    double *volume;     ///< m3, weight of each tetrahedron now; 0: not live
    uint16_t *touch;    ///< live tetrahedra around each node

    // ---- lists, ascending, true after pli_activeset_list
    PliIndex *active, active_count;
    PliIndex *slave, slave_count;
    PliIndex *element, element_count;
    uint64_t *active_bits, *slave_bits, *element_bits;

    // ---- the running event
    PliIndex *changed, changed_count; ///< nodes whose state changed, in order; may name a node twice
    uint8_t *changed_from;
    PliIndex *affected, affected_count; ///< nodes whose row changes
    PliIndex *patch, patch_count;       ///< after commit: nodes whose mass may have changed, those no longer active included ...
    int64_t *patch_mass;                ///< ... and what it was
    PliIndex *dirty, dirty_count;       ///< tetrahedra whose weight may have changed, and what it was
    double *dirty_volume;
    uint8_t *node_mark, *tet_mark, *patch_mark; ///< members of affected, of dirty, of patch
    bool mass_is_out;                   ///< masses of affected nodes are taken out at the moment
    bool lists_are_stale;

    // ---- scratch of the elimination
    PliIndex *order, *low, *stack, *frame_node, *component;
    uint8_t *on_stack, *frame_corner;
    double *sum;
    PliIndex *sum_column, *sum_stamp, stamp;
    double *dense;
    PliIndex largest_component; ///< since creation
    PliIndex repacks;           ///< times the slots had to move
} PliActiveSet;

PliActiveSet *pli_activeset_create(const PliHost *host, const PliLevels *levels, const PliActiveSetDef *def, PliError *err);
void pli_activeset_destroy(PliActiveSet *set);
/// All nodes of one level active.
PliStatus pli_activeset_reset(PliActiveSet *set, int level);

// ---- events --------------------------------------------------------------------------------------------------------------

void pli_activeset_begin(PliActiveSet *set);
/// Replaces an active node by its children, and first whatever coarser node beside it balance asks for.
/// @return number of nodes split, 0 when the node is not active or has no children.
PliIndex pli_activeset_split(PliActiveSet *set, PliIndex node);
bool pli_activeset_may_merge(const PliActiveSet *set, PliIndex node); ///< all children active, and balance allows it
bool pli_activeset_merge(PliActiveSet *set, PliIndex node);
/// Finds the affected rows. The old rows are still in place: the moment to evaluate old values.
void pli_activeset_affect(PliActiveSet *set);
/// New rows, masses, weights and lists. PLI_OVER_CAPACITY (the caller must undo): rows that do not fit, a dependency cycle of
/// more than 256 nodes, or a node whose mass would not be positive.
PliStatus pli_activeset_commit(PliActiveSet *set);
/// Brings the lists up to date after commits.
void pli_activeset_list(PliActiveSet *set);
/// States as they were at begin; recomputes what a commit had changed.
void pli_activeset_undo(PliActiveSet *set);
/// Everything from the states alone: what an incremental update is compared with.
PliStatus pli_activeset_rebuild(PliActiveSet *set);

// ---- questions -----------------------------------------------------------------------------------------------------------

PliIndex pli_activeset_ancestor(const PliActiveSet *set, PliIndex node); ///< the active node above a BELOW one, or itself
PliRows pli_activeset_rows(const PliActiveSet *set);                     ///< all nodes from active ones; valid until the next commit
/// a[node] from active values.
static inline void pli_activeset_value(const PliActiveSet *set, PliIndex node, const double *a, double out[3])
{
    double s[3] = { 0.0, 0.0, 0.0 };
    const PliIndex first = set->row_first[node], last = first + set->row_count[node];
    for (PliIndex k = first; k < last; ++k) {
        const double *p = a + 3 * (size_t)set->column[k], w = set->weight[k];
        s[0] += w * p[0], s[1] += w * p[1], s[2] += w * p[2];
    }
    out[0] = s[0], out[1] = s[1], out[2] = s[2];
}
void pli_activeset_spread(const PliActiveSet *set, double *a); ///< all passive nodes
/// Partition, balance on finest-mesh edges, rows, masses, weights, lists. For tests: allocates.
bool pli_activeset_is_valid(const PliActiveSet *set, PliError *err);

// activeset_rows.c
PliStatus pli_activeset_solve_rows(PliActiveSet *set);
void pli_activeset_add_mass(PliActiveSet *set, PliIndex node, int sign);

#endif
