/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FACTOR_H
#define PLI_FACTOR_H

// Factor L S L^T of a sparse symmetric matrix of 3x3 blocks, S = +-1. Columns with the same rows form panels, and the arithmetic between
// panels is dense. The order is that of nested dissection of the graph of blocks, for small ones AMD's. Every number is summed in one order whatever the vector unit: the same bits.
// The pattern allocates when it grows; factoring and solving never do.

#include <pliant/base.h>

typedef struct PliPanel {
    PliIndex first, width; ///< block columns
    PliIndex row_first;    ///< in `row`: block rows, its own columns first, then those below, ascending
    PliIndex rows;
    PliIndex stride; ///< numbers in a row of its values, a multiple of four
    size_t at;       ///< of its values: [3 rows, stride]
} PliPanel;

typedef struct PliFactor {
    PliHost host;
    PliIndex n;
    PliIndex *order, *place; ///< order[k]: block row of pivot k
    PliPanel *panel;
    PliIndex panels;
    PliIndex *row, *owner; ///< rows of panels; owner: panel of each column
    size_t rows;
    PliIndex *entry; ///< of the pattern, per block below the diagonal
    size_t *to;      ///< per block of the matrix, diagonals first: where it goes, lowest bit: transposed
    PliIndex *to_stride;
    size_t blocks;
    double *value;
    double *sign;    ///< [3n]
    double *product; ///< scratch of one update, and of one panel's diagonal
    double *y;       ///< [3n]
    PliIndex *local, *head, *next, *position;
    PliIndex negative;
    bool factored;
    double work;    ///< multiplications of a factorisation
    size_t numbers; ///< in `value`

    // while a pattern is made
    PliIndex *near_first, *near, *parent, *list_first, *list, *mark;
    int *scratch;
    size_t list_count;
    size_t order_capacity, place_capacity, panel_capacity, row_capacity, owner_capacity, to_capacity,
        to_stride_capacity, entry_capacity, value_capacity, sign_capacity, product_capacity, y_capacity, local_capacity,
        head_capacity, next_capacity, position_capacity, near_first_capacity, near_capacity, parent_capacity,
        list_first_capacity, list_capacity, mark_capacity, scratch_capacity;
} PliFactor;

void pli_factor_release(PliFactor *f);
/// Rows of blocks; those with column < row count, the others are mirrors or diagonals.
PliStatus pli_factor_pattern(PliFactor *f, PliIndex n, const PliIndex *first, const PliIndex *column);
/// Entry e of the pattern is value + 9 (offset + e), the diagonal of row r value + 9 r, or value + 9 diagonal[r].
/// @return 3n, or the number of the first pivot that is zero or not finite
PliIndex pli_factor_numeric(PliFactor *f, const double *value, size_t offset, const PliIndex *diagonal);
void pli_factor_solve(const PliFactor *f, const double *b, double *x); ///< b and x may be the same
/// Eight at once: b, x and work have shape [3n, 8].
void pli_factor_solve_eight(const PliFactor *f, const double *b, double *x, double *work);

#endif
