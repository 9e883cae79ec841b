/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ASSEMBLED_H
#define PLI_ASSEMBLED_H

// The matrix of an implicit step as 3x3 blocks: the diagonal and what is below it, rows in an order of small bandwidth. Fixed points have a
// row of the identity and no others. Tethers are not part of it: they come and go within a step, and few points have them.
// The pattern allocates when it grows; filling and multiplying never do.

#include "solver/couplings.h"
#include "solver/system.h"
#include "solver/triangle.h"

typedef struct PliAssembled {
    PliHost host;
    PliIndex n;               ///< rows
    PliIndex *order, *place;  ///< order[row]: its point; place[point]: its row
    PliIndex *first, *column; ///< blocks below the diagonal, by rows, ascending
    double *
        value; ///< [n + first[n], 9], row-major: diagonal blocks, then those below; behind them `edge` blocks, one of no use, those of slaves
    uint8_t *fixed;   ///< per row
    double *in, *out; ///< [n, 4], to lend to a product

    /// Fixed neighbours of each row, ascending: what couples with them only counts on the diagonal.
    PliIndex *edge_first, *edge_column;
    bool by_corners;        ///< all stiffness comes from elements with four corners, whose places are known:
    PliIndex *corner_place; ///< [elements, 6], see pli_elastic_add_tet_blocks
    PliSlaveRows slaves;

    // while a pattern is made
    PliCouplings couplings; ///< its lists serve for blocks by rows, too
    PliIndex *scratch;
    size_t order_capacity, place_capacity, first_capacity, column_capacity, value_capacity, fixed_capacity, in_capacity,
        out_capacity, edge_first_capacity, edge_column_capacity, corner_place_capacity, scratch_capacity;
} PliAssembled;

void pli_assembled_release(PliAssembled *m);
PliStatus pli_assembled_pattern(PliAssembled *m, const PliStepMatrix *a); ///< m->host is set
/// Number of the block (row, column) in `value`, column <= row; PLI_NONE: the pattern has none.
PliIndex pli_assembled_find(const PliAssembled *m, PliIndex row, PliIndex column);
void pli_assembled_fill(PliAssembled *m, const PliStepMatrix *a);            ///< without tethers
void pli_assembled_apply(const PliAssembled *m, const double *x, double *y); ///< y = A x in the order of points
void pli_assembled_multiply(const PliAssembled *m, const double *in,
                            double *out); ///< the same of rows: [n, 4], aligned to 32 bytes, the last number of each 0

/// A preconditioner in the order of rows: z = about A^-1 r, four numbers a row, the last one 0.
typedef struct PliSweep {
    PliF4 *r, *z;
    void (*solve)(void *self);
    void *self;
} PliSweep;
size_t pli_assembled_cg_workspace(PliIndex n); ///< doubles to lend
/// CG on A and the tethers, until the residual in double precision says so. Iterations begin at the sum of multiples of the guesses
/// (NULL: none) that is nearest to the solution, or go on where the first guess is x itself.
PliSolveResult pli_assembled_cg(const PliAssembled *m, const PliStepMatrix *a, const PliIterative *def,
                                const PliSweep *sweep, const double *b, const double *const guess[2], double *x,
                                double *workspace);
/// Calls fn with every block of the tethers (block number in `value`, nine numbers): lower triangle only; a pair that the pattern has not
/// goes to the diagonals, where it is never too soft. Fixed points are left out.
void pli_assembled_tethers(const PliAssembled *m, const PliStepMatrix *a,
                           void (*fn)(PliIndex block, const double k9[9], void *user), void *user);

#endif
