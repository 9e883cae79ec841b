/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SLAVE_ROWS_H
#define PLI_SLAVE_ROWS_H

// Rows of stiffness of slaves, and how they reach the active points these hang on. Elements write their blocks to rows of slaves as to
// those of active points; then each row goes through W once: with K = D + L + L^T, W^T K W is the sum over slaves i of W_i^T (L_i W +
// D_i W_i / 2) and its mirror. Element by element the same took four to eight times as long: neighbours share their points.

#include "solver/system.h"

typedef struct PliSlaveRows {
    PliHost host;
    PliIndex count; ///< slaves
    PliIndex *first,
        *column; ///< of each slave, points before it that it shares an element with, ascending; compact numbers
    /// Blocks: `count` diagonal ones, then those of `column`; the caller gives the place of the first.
    size_t blocks;
    /// Free active points that a row of L W + D W / 2 has, and what each neighbour adds to it: first the columns, then the slave itself.
    PliIndex *slot_first, *slot;
    PliIndex *term_first, *term; ///< [columns + slaves + 1]: number of the slot within the row
    double *term_weight;
    PliIndex *own_first, *own; ///< free active points a slave hangs on
    double *own_weight;
    size_t *pair_first; ///< of each slave, [own, slots] in `pair_place`: where the block goes, see PLI_PLACE_MIRRORED
    PliIndex *pair_place;
    double *row; ///< the longest row, twice: as it is and mirrored
    PliIndex *mark;
    size_t first_capacity, column_capacity, slot_first_capacity, slot_capacity, term_first_capacity, term_capacity,
        term_weight_capacity, own_first_capacity, own_capacity, own_weight_capacity, pair_first_capacity,
        pair_place_capacity, row_capacity, mark_capacity;
} PliSlaveRows;

void pli_slave_rows_release(PliSlaveRows *r);
/// Rows of the slaves of `s` for these elements of four corners. @return false: no memory
bool pli_slave_rows_pattern(PliSlaveRows *r, const PliSystem *s, const PliIndex *corner, PliIndex element_count);
/// Where blocks of pairs of free active points are: `row` gives those of a point with every point it couples with, PLI_PLACE_MIRRORED
/// included, by numbers of points, until the next call.
void pli_slave_rows_place(PliSlaveRows *r, const PliIndex *(*row)(const void *user, PliIndex point), const void *user);
/// Number of the block of a slave and a point before it, from the first block on.
PliIndex pli_slave_rows_find(const PliSlaveRows *r, PliIndex slave, PliIndex point);
/// value += W^T K W. `blocks` are those below the diagonal, each once; rows sum to zero. `place` has rows of active points; their diagonal
/// blocks, [value, value + 9 rows), take what their slaves' columns leave.
void pli_slave_rows_reduce(const PliSlaveRows *r, const PliIndex *place, PliIndex active_count, double *blocks,
                           double *value);

#endif
