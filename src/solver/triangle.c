/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/triangle.h"

#include <string.h>

#include "base/wide.h"

typedef float U4 __attribute__((vector_size(16), aligned(4), may_alias));

// ---- rows ----------------------------------------------------------------------------------------------------------------------

/// Sums of three numbers each.
static inline PliF4 add_up(PliF4 a, PliF4 b, PliF4 c)
{
    const PliF4 zero = { 0 };
    const PliF4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cz = __builtin_shufflevector(c, zero, 0, 4, 1, 5),
                ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cz2 = __builtin_shufflevector(c, zero, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cz, 0, 1, 4, 5) + __builtin_shufflevector(ab, cz, 2, 3, 6, 7) +
           __builtin_shufflevector(ab2, cz2, 0, 1, 4, 5);
}

/// sum of A_rk x_k over `count` blocks of a row
static inline PliF4 row_times(const PliIndex *restrict column, const float *restrict b, PliIndex count, const PliF4 *x)
{
    PliF4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 };
    for (const PliIndex *end = column + count; column < end; ++column, b += 9) {
        const PliF4 p = x[*column];
        s0 += *(const U4 *)b * p, s1 += *(const U4 *)(b + 3) * p, s2 += *(const U4 *)(b + 6) * p;
    }
    return add_up(s0, s1, s2);
}

/// y_k += A_rk^T x_r for the same blocks. What comes after a row of three ends up in the fourth number, which nobody reads.
static inline void row_spread(const PliIndex *restrict column, const float *restrict b, PliIndex count, PliF4 x,
                              PliF4 *restrict y)
{
    const PliF4 x0 = { x[0], x[0], x[0], x[0] }, x1 = { x[1], x[1], x[1], x[1] }, x2 = { x[2], x[2], x[2], x[2] };
    for (const PliIndex *end = column + count; column < end; ++column, b += 9)
        y[*column] += *(const U4 *)b * x0 + *(const U4 *)(b + 3) * x1 + *(const U4 *)(b + 6) * x2;
}

static inline PliF4 times_inverse(const PliF4 *d, PliF4 x)
{
    return d[0] * x[0] + d[1] * x[1] + d[2] * x[2]; // symmetric: rows are columns
}

// ---- Gauss-Seidel ----------------------------------------------------------------------------------------------------------------

// A row is read once for the sweep and for what it leaves: after it, r - A x is -U x.
PLI_WIDE static void forward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *rest)
{
    const PliIndex n = t->n, *first = t->first, *column = t->column;
    const float *below = t->value + 9 * (size_t)n;
    const PliF4 *inverse = t->inverse;
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex from = first[i], count = first[i + 1] - from;
        const float *b = below + 9 * (size_t)from;
        const PliF4 xi = times_inverse(inverse + 3 * (size_t)i, r[i] - row_times(column + from, b, count, x));
        x[i] = xi;
        row_spread(column + from, b, count, -xi, rest);
    }
}

PLI_WIDE static void backward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch)
{
    const PliIndex n = t->n, *first = t->first, *column = t->column;
    const float *below = t->value + 9 * (size_t)n;
    const PliF4 *inverse = t->inverse;
    for (PliIndex i = n; i-- > 0;) {
        const PliIndex from = first[i], count = first[i + 1] - from;
        const float *b = below + 9 * (size_t)from;
        const PliF4 rest = r[i] - scratch[i] - row_times(column + from, b, count, x),
                    xi = times_inverse(inverse + 3 * (size_t)i, rest);
        x[i] = xi;
        row_spread(column + from, b, count, xi, scratch);
    }
}

// ---- diagonal blocks ---------------------------------------------------------------------------------------------------------------

/// Inverse of a symmetric block, or of its diagonal.
static void invert_block(const double a[9], PliF4 *inverse)
{
    const double c0 = a[4] * a[8] - a[5] * a[5], c1 = a[2] * a[5] - a[1] * a[8], c2 = a[1] * a[5] - a[2] * a[4],
                 det = a[0] * c0 + a[1] * c1 + a[2] * c2, minor = a[0] * a[4] - a[1] * a[1];
    // leading minors with a margin: what is not clearly positive definite is not inverted
    if (a[0] > 0.0 && minor > 1e-10 * a[0] * a[4] && det > 1e-10 * a[0] * a[4] * a[8]) {
        const double f = 1.0 / det;
        const float i01 = (float)(f * c1), i02 = (float)(f * c2), i12 = (float)(f * (a[1] * a[2] - a[0] * a[5]));
        inverse[0] = (PliF4){ (float)(f * c0), i01, i02, 0.0f };
        inverse[1] = (PliF4){ i01, (float)(f * (a[0] * a[8] - a[2] * a[2])), i12, 0.0f };
        inverse[2] = (PliF4){ i02, i12, (float)(f * minor), 0.0f };
        return;
    }
    for (int i = 0; i < 3; ++i) {
        inverse[i] = (PliF4){ 0 };
        inverse[i][i] = a[4 * i] > 0.0 ? (float)(1.0 / a[4 * i]) : 1.0f;
    }
}

void pli_triangle_invert(const PliTriangle *t)
{
    for (PliIndex i = 0; i < t->n; ++i) {
        double a[9];
        for (int k = 0; k < 9; ++k) a[k] = t->value[9 * (size_t)i + (size_t)k];
        invert_block(a, t->inverse + 3 * (size_t)i);
    }
}

// ---- incomplete factor ---------------------------------------------------------------------------------------------------------------

/// c -= a b^T
static inline void minus_product(double c[9], const float *a, const float *b)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c[3 * i + j] -= (double)(a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2]);
}

enum { MOST = 128 }; ///< blocks of a row that later ones of it see

/// Columns of S_i, the row that is being made, and where row i has its blocks; the others have PLI_NONE.
typedef struct FactorRow {
    PliF4 column[MOST][3];
    PliIndex *at;
} FactorRow;

/// Rows of (A_ik - sum_j S_ij L_kj^T)^T over the j before k that both rows have.
static inline void make_sum(const PliTriangle *t, const FactorRow *row, const float *a, PliIndex k, PliF4 sum[3])
{
    for (int q = 0; q < 3; ++q) sum[q] = (PliF4){ a[q], a[3 + q], a[6 + q], 0.0f };
    const float *l = t->value + 9 * ((size_t)t->n + t->first[k]);
    for (PliIndex e = t->first[k]; e < t->first[k + 1]; ++e, l += 9) {
        const PliIndex at = row->at[t->column[e]];
        if (at == PLI_NONE) continue;
        const PliF4 *s = row->column[at];
        for (int q = 0; q < 3; ++q) sum[q] -= l[3 * q] * s[0] + l[3 * q + 1] * s[1] + l[3 * q + 2] * s[2];
    }
}

/// Inverse of D_i = d; where that is no longer positive definite, of A_ii.
static void invert_pivot(const PliTriangle *t, PliIndex i, double d[9])
{
    static const double least = 1e-3;
    double whole[9];
    for (int q = 0; q < 9; ++q) whole[q] = t->value[9 * (size_t)i + (size_t)q];
    for (int q = 0; q < 3; ++q) // rounding leaves it not quite symmetric
        for (int p = 0; p < q; ++p) d[3 * p + q] = d[3 * q + p] = 0.5 * (d[3 * p + q] + d[3 * q + p]);
    const double minor = d[0] * d[4] - d[1] * d[1], det = d[0] * (d[4] * d[8] - d[5] * d[5]) +
                                                          d[1] * (d[2] * d[5] - d[1] * d[8]) +
                                                          d[2] * (d[1] * d[5] - d[2] * d[4]);
    const bool good = d[0] > least * whole[0] && minor > least * least * whole[0] * whole[4] &&
                      det > least * least * least * whole[0] * whole[4] * whole[8];
    invert_block(good ? d : whole, t->inverse + 3 * (size_t)i);
}

// Row by row: S_ik = A_ik - sum_j L_ij D_j L_kj^T over the j that both rows have, L_ik = S_ik D_k^-1, D_i = A_ii - sum_k S_ik L_ik^T.
// `at` says for each column where row i has it, as far as that is made.
PLI_WIDE static void factor(const PliTriangle *t, PliIndex *at)
{
    FactorRow row = { .at = at };
    for (PliIndex i = 0; i < t->n; ++i) at[i] = PLI_NONE;
    for (PliIndex i = 0; i < t->n; ++i) {
        const PliIndex from = t->first[i], count = t->first[i + 1] - from;
        double d[9];
        for (int q = 0; q < 9; ++q) d[q] = t->value[9 * (size_t)i + (size_t)q];
        for (PliIndex e = 0; e < count; ++e) {
            const PliIndex k = t->column[from + e];
            float *l = t->value + 9 * ((size_t)t->n + from + e), now[9];
            PliF4 sum[3];
            make_sum(t, &row, l, k, sum);
            if (e < MOST) {
                at[k] = e;
                memcpy(row.column[e], sum, sizeof sum);
            }
            for (int q = 0; q < 9; ++q) now[q] = sum[q % 3][q / 3];
            const PliF4 *inverse = t->inverse + 3 * (size_t)k;
            for (int p = 0; p < 3; ++p) {
                const PliF4 r = now[3 * p] * inverse[0] + now[3 * p + 1] * inverse[1] + now[3 * p + 2] * inverse[2];
                l[3 * p] = r[0], l[3 * p + 1] = r[1], l[3 * p + 2] = r[2];
            }
            minus_product(d, now, l);
        }
        for (PliIndex e = 0; e < count; ++e) at[t->column[from + e]] = PLI_NONE;
        invert_pivot(t, i, d);
    }
}

PLI_WIDE static void solve(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch)
{
    const PliIndex n = t->n, *first = t->first, *column = t->column;
    const float *below = t->value + 9 * (size_t)n;
    const PliF4 *inverse = t->inverse;
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex from = first[i], count = first[i + 1] - from;
        x[i] = r[i] - row_times(column + from, below + 9 * (size_t)from, count, x);
        scratch[i] = (PliF4){ 0 };
    }
    for (PliIndex i = n; i-- > 0;) {
        const PliIndex from = first[i], count = first[i + 1] - from;
        const PliF4 rest = scratch[i],
                    xi = times_inverse(inverse + 3 * (size_t)i, x[i]) - (PliF4){ rest[0], rest[1], rest[2], 0.0f };
        x[i] = xi;
        row_spread(column + from, below + 9 * (size_t)from, count, xi, scratch);
    }
}

// ---- what others call; the choice of a vector unit stays inside ---------------------------------------------------------------

void pli_triangle_forward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *rest) { forward(t, r, x, rest); }
void pli_triangle_backward(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch)
{
    backward(t, r, x, scratch);
}
void pli_triangle_factor(const PliTriangle *t, PliIndex *scratch) { factor(t, scratch); }
void pli_triangle_solve(const PliTriangle *t, const PliF4 *r, PliF4 *x, PliF4 *scratch) { solve(t, r, x, scratch); }
