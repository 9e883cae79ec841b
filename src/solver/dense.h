/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DENSE_H
#define PLI_DENSE_H

// Dense symmetric matrix and its LDL^T factor in tiles. Frames couple nearly all with all: a sparse factor of such a matrix
// costs several times a dense one. Every number is summed in one order whatever the vector unit: the same bits.

#include <pliant/base.h>

typedef struct PliDense {
    PliHost host;
    PliIndex n;
    size_t stride; ///< doubles per row
    double *a;     ///< rows; the lower triangle counts, L after factoring
    double *d;     ///< pivots
    double *panel; ///< scratch of the factorisation
    size_t capacity, row_capacity;
    PliIndex negative; ///< pivots below zero
} PliDense;

PliDense *pli_dense_create(const PliHost *host);
void pli_dense_destroy(PliDense *m); ///< NULL is fine
PliStatus pli_dense_reserve(PliDense *m, PliIndex n); ///< may allocate; sets n
void pli_dense_zero(PliDense *m);
PliStatus pli_dense_factor(PliDense *m); ///< PLI_DIVERGED when a pivot is zero or not finite
void pli_dense_solve(const PliDense *m, const double *b, double *x); ///< b and x may be the same

enum { PLI_DENSE_TILE = 48 };

// one tile step of the factorisation, per vector unit
typedef struct PliDenseKernel {
    /// panel[p][i] -= sum_{q < p} l[p][q] panel[q][i] for i in [first, last), both multiples of 8.
    void (*panel)(double *panel, size_t panel_stride, const double *l, size_t l_stride, int width, size_t first, size_t last);
    /// a[i][j] -= sum_p l[i][p] panel[p][j], rows and columns [row0, last), lower triangle; up to three rows beyond are touched.
    void (*trail)(double *a, size_t stride, const double *panel, size_t panel_stride, int width, size_t tile, size_t row0, size_t last);
} PliDenseKernel;
extern const PliDenseKernel pli_dense_plain;
const PliDenseKernel *pli_dense_avx2(void);
const PliDenseKernel *pli_dense_avx512(void);

#endif
