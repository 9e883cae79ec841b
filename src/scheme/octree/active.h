/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_ACTIVE_H
#define PLI_OCTREE_ACTIVE_H

// Which cells are simulated: every finest cell has exactly one active ancestor-or-self, and active cells that touch differ by one
// level at most. Each active cell keeps the list of its active neighbours; a split or merge edits only lists of potential neighbours,
// by the tables of the tree, so its price does not depend on the size of the body.

#include "scheme/octree/tree.h"

typedef struct PliOctreeActive {
    const PliOctreeTree *tree;
    uint8_t *is_active; ///< per cell
    PliIndex count;
    PliIndex *length; ///< per cell: active neighbours
    PliIndex *list;   ///< entries of the tree, [first[c], first[c] + length[c]), any order
    PliIndex *place;  ///< per entry: where it stands in the list of its cell, PLI_NONE: not in it
    PliIndex *stack;  ///< of splits that balance asks for first
} PliOctreeActive;

PliStatus pli_octree_active_init(PliOctreeActive *a, const PliOctreeTree *tree);
void pli_octree_active_free(PliOctreeActive *a);
void pli_octree_active_start(PliOctreeActive *a, int level); ///< all cells of one level

bool pli_octree_has_children(const PliOctreeTree *t, PliIndex cell);
bool pli_octree_may_split(const PliOctreeActive *a, PliIndex cell); ///< active, not finest, no coarser neighbour
bool pli_octree_may_merge(const PliOctreeActive *a,
                          PliIndex mother); ///< all daughters active, none with a finer neighbour
/// Cells to split, in this order, so that `cell` may be and is: coarser neighbours first. @return how many; the list is the set's.
PliIndex pli_octree_plan_split(PliOctreeActive *a, PliIndex cell, const PliIndex **order);
PliIndex pli_octree_plan_growth(const PliOctreeTree *t, const PliIndex *order,
                                PliIndex count);            ///< active cells more than now
void pli_octree_split(PliOctreeActive *a, PliIndex cell);   ///< one that may
void pli_octree_merge(PliOctreeActive *a, PliIndex mother); ///< one that may
/// Neighbour i of an active cell.
static inline PliIndex pli_octree_neighbour(const PliOctreeActive *a, PliIndex cell, PliIndex i)
{
    return a->tree->potential[a->list[a->tree->first[cell] + i]];
}
/// Active ancestor-or-self of a cell, PLI_NONE when finer ones are active.
PliIndex pli_octree_cover(const PliOctreeActive *a, PliIndex cell);
/// Everything from scratch, against the tree alone; for tests.
bool pli_octree_active_is_valid(const PliOctreeActive *a, PliError *err);

#endif
