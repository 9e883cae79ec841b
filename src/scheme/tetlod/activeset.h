/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ACTIVESET_H
#define PLI_ACTIVESET_H

// Which nodes of a hierarchy move by themselves, and what follows from it: the rows of W that give every other node, lumped
// masses, live tetrahedra with the volume left to them, and the slaves those touch. Nothing allocates after creation.
//
// Everything is local to an event. Rows are only kept for nodes somebody needs (slaves of live tetrahedra, and whatever is asked
// for); the others are dropped when they change and made again on demand. Masses are a flow of whole units: every passive node
// passes what reaches it on to the nodes it follows, so m_a = sum_k W_ka m_k over the finest nodes without any row of theirs.
//
// A passive node follows the corners of a tetrahedron one level up or down (more nodes where levels were repaired), which may be passive themselves. Because the meshes
// are not nested, small cycles are common (two to five nodes in most sets). Such nodes are tied into a cycle: solved together, they
// follow nodes outside their cycle only, and everything else sees a graph without cycles. Sweeping over stale values instead, as the
// paper does, leaves an error that depends on the storage order.
//
// An event is one split or one merge: begin, split or merge, affect, commit; undo takes it back at any time after begin.

#include <pliant/transfer.h>

#include "scheme/tetlod/levels.h"

typedef enum PliNodeState {
    PLI_BELOW, ///< an ancestor is active; follows the coarser tetrahedron around it
    PLI_ACTIVE,
    PLI_REFINED ///< descendants are active; follows the finer tetrahedron around it
} PliNodeState;

typedef struct PliActiveSetDef {
    int ramp;   ///< rings over which the weights of the finer level fade, 0 .. 15
    bool paper; ///< force-based coupling: every tetrahedron around an active node of its level counts in full
    int start_level;
} PliActiveSetDef;

enum { PLI_CYCLE_ROW = 64, PLI_CYCLE_MAX = 64 }; ///< most nodes a cycle follows; most nodes in one cycle

typedef struct PliActiveSet {
    PliHost host;
    const PliLevels *h; ///< borrowed
    PliActiveSetDef def;
    uint8_t *state;

    // ---- cycles: members of dependency cycles, with what they follow once the cycle is solved
    PliIndex *cycle;                                ///< per node: its cycle, or PLI_NONE
    PliIndex *cycle_node, *cycle_next, *cycle_size; ///< cycle_next: the next member of the same cycle, round
    PliIndex *cycle_source;                         ///< [cycle_capacity, PLI_CYCLE_ROW]
    double *cycle_weight;
    PliIndex *free_cycle, free_cycles, cycle_capacity;
    bool is_damaged; ///< a cycle could not be tied in this event: commit refuses, undo repairs

    // ---- W: slots of fixed place and varying use; the rest of a slot repeats its first column with weight 0, so that
    // first .. first+1 is a valid row for any reader
    uint8_t *valid; ///< the row is that of the present set
    PliIndex *row_first, *row_count, *column;
    double *weight;
    size_t entry_capacity;
    PliIndex *slot;         ///< scratch for widening slots
    uint64_t *row_revision; ///< per node, set to `revision` when its row is dropped
    uint64_t revision;      ///< the owner's, raised by the owner

    /// Per node, units of volume: what reaches it from the finest nodes. Times density it is the mass of an active node.
    int64_t *mass;
    int64_t *pending; ///< on its way to a node, 0 between calls
    PliIndex *queue, queue_first, queue_count;

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
    bool lists_are_stale;

    // ---- the running event
    PliIndex *changed, changed_count; ///< nodes whose state changed, those that became active first
    uint8_t *changed_from;
    int64_t *changed_mass; ///< what reached the node when it changed; for one that stopped: what it hands over
    PliIndex *affected, affected_count;         ///< nodes whose row was dropped, changed ones included
    PliIndex *patch, patch_count;               ///< nodes whose mass changed, changed ones included ...
    int64_t *patch_mass;                        ///< ... and what it was, 0 where they were not active
    PliIndex *dirty, dirty_count;               ///< tetrahedra whose weight may have changed ...
    double *dirty_volume;                       ///< ... and what it was
    uint8_t *node_mark, *tet_mark, *patch_mark; ///< members of affected, of dirty, of patch

    // ---- scratch: cycle search, rows, following
    uint32_t *order, *low, visits, *followed, follow_stamp;
    PliIndex *stack, *frame_node, *component, *suspect, suspect_count;
    uint8_t *on_stack, *frame_corner;
    double *sum;
    PliIndex *sum_column, *sum_stamp, stamp;
    double *dense;
    PliIndex largest_component; ///< since creation
    PliIndex repacks;           ///< times the slots had to move
} PliActiveSet;

PliActiveSet *pli_activeset_create(const PliHost *host, const PliLevels *levels, const PliActiveSetDef *def,
                                   PliError *err);
void pli_activeset_destroy(PliActiveSet *set);
/// All nodes of one level active.
PliStatus pli_activeset_reset(PliActiveSet *set, int level);

// ---- events --------------------------------------------------------------------------------------------------------------

/// The active node that balance wants split before `node` can be, or PLI_NONE.
PliIndex pli_activeset_blocker(const PliActiveSet *set, PliIndex node);
bool pli_activeset_may_split(const PliActiveSet *set, PliIndex node); ///< active, has children, nothing blocks it
bool pli_activeset_may_merge(const PliActiveSet *set, PliIndex node); ///< all children active, and balance allows it

void pli_activeset_begin(PliActiveSet *set);
bool pli_activeset_split(PliActiveSet *set, PliIndex node); ///< replaces an active node by its children
bool pli_activeset_merge(PliActiveSet *set, PliIndex node); ///< and back
/// Finds the affected rows. They are still in place: the moment to evaluate old values.
void pli_activeset_affect(PliActiveSet *set);
/// New weights, and rows for every slave and every node that changed. PLI_OVER_CAPACITY (the caller must undo): rows that do not
/// fit, a dependency cycle of more than PLI_CYCLE_MAX nodes, or a node whose mass would not be positive.
PliStatus pli_activeset_commit(PliActiveSet *set);
/// Everything as it was at begin.
void pli_activeset_undo(PliActiveSet *set);
/// Everything from the states alone: what an incremental update is compared with.
PliStatus pli_activeset_rebuild(PliActiveSet *set);
/// Brings the lists up to date after commits.
void pli_activeset_list(PliActiveSet *set);

// ---- questions -----------------------------------------------------------------------------------------------------------

PliIndex pli_activeset_ancestor(const PliActiveSet *set,
                                PliIndex node); ///< the active node above a BELOW one, or itself
/// Makes the row of a node valid (and those of nodes it follows).
PliStatus pli_activeset_need(PliActiveSet *set, PliIndex node);
/// All nodes from active ones; makes every row valid first. Valid until the next commit.
PliRows pli_activeset_rows(PliActiveSet *set);
/// The nodes a passive node follows, and how many.
static inline PliIndex pli_activeset_sources(const PliActiveSet *set, PliIndex node, const PliIndex **source,
                                             const double **weight)
{
    const PliIndex k = set->cycle[node];
    if (k != PLI_NONE) {
        *source = set->cycle_source + (size_t)PLI_CYCLE_ROW * k;
        *weight = set->cycle_weight + (size_t)PLI_CYCLE_ROW * k;
        return set->cycle_size[k];
    }
    return pli_levels_sources(set->h, node, set->state[node] == PLI_BELOW, source, weight);
}
/// The rows as they are: only valid ones mean something.
static inline PliRows pli_activeset_valid_rows(const PliActiveSet *set)
{
    return (PliRows){ set->row_first, set->column, set->weight, set->h->point_count, set->h->point_count };
}
/// a[node] from active values, by a row that must be valid.
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
/// Starts a round of following: values written before are not trusted any more.
void pli_activeset_follow_begin(PliActiveSet *set);
/// Writes a[node] (and what it follows) from active values, node by node: cheaper than rows for values that are used once.
const double *pli_activeset_follow(PliActiveSet *set, PliIndex node, double *a);
void pli_activeset_spread(PliActiveSet *set, double *a); ///< all passive nodes
/// Partition, balance on finest-mesh edges, rows, masses, weights, lists. For tests: makes every row valid.
bool pli_activeset_is_valid(PliActiveSet *set, PliError *err);

// activeset_flow.c: cycles and masses
void pli_activeset_rebuild_flow(PliActiveSet *set);
void pli_activeset_stage_begin(PliActiveSet *set);
void pli_activeset_stage_leave(PliActiveSet *set, PliIndex node); ///< before the state of a node changes
void pli_activeset_stage_enter(PliActiveSet *set, PliIndex node); ///< after
void pli_activeset_stage_end(PliActiveSet *set);
void pli_activeset_add_patch(PliActiveSet *set, PliIndex node, bool was_active);

#endif
