/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HIERARCHY_H
#define PLI_HIERARCHY_H

// Coarser grids for the matrix of an implicit step, made from the matrix and the places of its points alone: of the graph of each
// matrix some points that are no neighbours stay, the others follow them by weights that reproduce linear functions of their places and
// with that rigid motions, and the coarser matrix is P^T A P. They are used in two ways: a multigrid cycle of sweeps on all of them; or to add
// to an incomplete factor what that misses, motion of long waves. Then the first coarser grid is that of two such choices, as the factor
// does well with the waves in between.
// Both are symmetric and positive definite for any coarser matrices that are, so these may be older than the finest one.

#include "solver/triangle.h"

enum { PLI_HIERARCHY_MOST = 12 };

typedef struct PliGrid {
    PliTriangle t;
    double *place; ///< [n, 3]
    uint8_t *out;  ///< rows no coarser one moves
    // rows of P over the next coarser grid
    PliIndex *to_first, *to_column;
    float *to_weight;
    PliF4 *r, *x, *w;            ///< of a cycle
    PliIndex *near_first, *near; ///< neighbours of each row, its blocks in `near_block`
    PliIndex *first, *column;    ///< of t, when they are its own
    float *value;
    size_t place_capacity, out_capacity, to_first_capacity, to_column_capacity, to_weight_capacity, r_capacity,
        x_capacity, w_capacity, near_first_capacity, near_capacity, first_capacity, column_capacity, value_capacity,
        inverse_capacity;
} PliGrid;

typedef struct PliHierarchy {
    PliHost host;
    PliGrid grid[PLI_HIERARCHY_MOST]; ///< finest first
    int count;
    double *dense; ///< Cholesky factor of the coarsest, unless that is too large: then it is swept
    double *dense_x;
    PliIndex *scratch;
    float *sums;     ///< of a product, [rows, 9]
    PliIndex *table; ///< [rows, rows] of grid 1: places of its blocks; only while that is small
    size_t dense_capacity, dense_x_capacity, scratch_capacity, sums_capacity, table_capacity;
    bool has_factor, has_table;
} PliHierarchy;

void pli_hierarchy_release(PliHierarchy *h);
/// Room for the finest values, which the caller fills: grid[0].t.value of rows `first`, `column` (borrowed).
PliStatus pli_hierarchy_begin(PliHierarchy *h, PliIndex n, const PliIndex *first, const PliIndex *column);
/// Chooses the coarser grids from grid[0].place and grid[0].out, which the caller filled. May allocate.
/// far: the first coarser grid is that of two choices.
PliStatus pli_hierarchy_pattern(PliHierarchy *h, bool far);
void pli_hierarchy_coarsen(PliHierarchy *h);    ///< coarser matrices from the finest, never allocates
void pli_hierarchy_cycle(PliHierarchy *h);      ///< grid[0].x = about A^-1 grid[0].r, by sweeps with A itself
void pli_hierarchy_add_coarse(PliHierarchy *h); ///< grid[0].x += P (a cycle of the coarser grids) P^T grid[0].r

#endif
