/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TRIANGLE_H
#define PLI_TRIANGLE_H

// Sweeps over a symmetric matrix of 3x3 blocks in single precision, of which the lower triangle is kept: what preconditioners are made of.
// Vectors have four numbers per row, the last one 0. Nothing here allocates.

#include <pliant/base.h>

typedef float PliF4 __attribute__((vector_size(16), may_alias));

typedef struct PliTriangle {
    PliIndex n;
    const PliIndex *first, *column; ///< blocks below the diagonal, by rows, ascending
    float *value;                   ///< [n + first[n], 9] and three more: diagonal blocks, then those below
    PliF4 *inverse;                 ///< [n, 3]: rows of the inverse diagonal blocks
} PliTriangle;

/// Inverses of the diagonal blocks; one that is not positive definite is taken without what is off its diagonal.
void pli_triangle_invert(const PliTriangle *t);
/// One Gauss-Seidel sweep from x = 0, and what it leaves: rest = r - A x. `rest` starts as 0.
void pli_triangle_forward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *rest);
/// One backward Gauss-Seidel sweep on A x = r, going on from x; `scratch` starts as 0.
void pli_triangle_backward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch);

/// Replaces A by an incomplete factor (1 + L) D (1 + L)^T of the same pattern; D is kept as inverses only.
/// `scratch` has a place for every row.
void pli_triangle_factor(const PliTriangle *t, PliIndex *scratch);
/// x = ((1 + L) D (1 + L)^T)^-1 r
void pli_triangle_solve(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch);

#endif
