/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Sparse symmetric matrix of 3x3 blocks: rows of blocks for products, and the upper triangle of the permuted scalar matrix
// for SuiteSparse LDL. The order comes from AMD on the graph of blocks, which is nine times smaller than the scalar one.
// Memory grows in begin/push/seal only and is kept, so that later patterns of the same size allocate nothing.
#include "solver/linear.h"

#include "base/memory.h"

#include <amd.h>
#include <ldl.h>

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct Pair {
    PliIndex row, col;
} Pair;

struct PliBlockMatrix {
    PliHost host;
    PliIndex n; ///< block rows
    bool sealed, factored;
    Pair *pair; ///< pushed, before sealing
    size_t pair_count, pair_capacity;

    // rows of blocks, columns ascending; the pattern is symmetric
    PliIndex *first, *col;
    double *value;    ///< [entries, 9]
    PliIndex *mirror; ///< entry (col, row) of entry (row, col)
    size_t first_capacity, col_capacity, value_capacity, mirror_capacity;

    // scalar upper triangle in AMD order, by columns, and where each number comes from in `value`
    int *order, *place; ///< order[k]: block row of pivot k; place: its inverse
    int *ap, *ai;
    size_t *source;
    double *ax;
    size_t order_capacity, place_capacity, ap_capacity, ai_capacity, source_capacity, ax_capacity;

    // factor
    int *lp, *parent, *lnz, *flag, *pattern, *li;
    double *lx, *d, *y;
    size_t lp_capacity, parent_capacity, lnz_capacity, flag_capacity, pattern_capacity, li_capacity, lx_capacity,
        d_capacity, y_capacity;
    int *scratch; ///< of AMD, and marks
    size_t scratch_capacity;
    PliIndex negative;
};

#define RESERVE(m, name, count)                                                                                        \
    pli_reserve(&(m)->host, (void **)&(m)->name, &(m)->name##_capacity, (count), sizeof *(m)->name)

PliBlockMatrix *pli_block_matrix_create(const PliHost *host)
{
    PliBlockMatrix *m = PLI_NEW(host, 1, PliBlockMatrix);
    if (m) m->host = *host;
    return m;
}

void pli_block_matrix_destroy(PliBlockMatrix *m)
{
    if (!m) return;
    PliHost host = m->host;
#define RELEASE(name) PLI_FREE(&host, m->name, m->name##_capacity)
    RELEASE(pair), RELEASE(first), RELEASE(col), RELEASE(value), RELEASE(mirror);
    RELEASE(order), RELEASE(place), RELEASE(ap), RELEASE(ai), RELEASE(source), RELEASE(ax);
    RELEASE(lp), RELEASE(parent), RELEASE(lnz), RELEASE(flag), RELEASE(pattern), RELEASE(li);
    RELEASE(lx), RELEASE(d), RELEASE(y), RELEASE(scratch);
#undef RELEASE
    PLI_FREE(&host, m, 1);
}

PliStatus pli_block_matrix_begin(PliBlockMatrix *m, PliIndex n)
{
    if (n > INT_MAX / 3 - 1) return PLI_OVER_CAPACITY;
    m->n = n;
    m->pair_count = 0;
    m->sealed = m->factored = false;
    return PLI_OK;
}

PliStatus pli_block_matrix_push(PliBlockMatrix *m, PliIndex row, PliIndex col)
{
    if (row >= m->n || col >= m->n) return PLI_BAD_ARGUMENT;
    if (!PLI_GROW(&m->host, m->pair, m->pair_count, m->pair_capacity)) return PLI_OUT_OF_MEMORY;
    m->pair[m->pair_count++] = (Pair){ row, col };
    return PLI_OK;
}

static void sort_columns(PliIndex *c, PliIndex count)
{
    // shell sort: rows are short, and most come nearly sorted
    for (PliIndex gap = count > 40 ? 13 : count > 12 ? 4 : 1; gap > 0; gap /= 3)
        for (PliIndex i = gap; i < count; ++i) {
            PliIndex v = c[i], k = i;
            for (; k >= gap && c[k - gap] > v; k -= gap) c[k] = c[k - gap];
            c[k] = v;
        }
}

/// Rows of the symmetric pattern with the diagonal, from the pushed pairs.
static bool build_rows(PliBlockMatrix *m)
{
    const PliIndex n = m->n;
    size_t most = 2 * m->pair_count + n;
    if (most >= PLI_NONE || !RESERVE(m, first, (size_t)n + 2) || !RESERVE(m, col, most) ||
        !RESERVE(m, scratch, (size_t)n + 1))
        return false;
    PliIndex *first = m->first;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    // first[r + 2] counts, so that filling leaves first[r + 1] at the start of row r + 1
    for (PliIndex r = 0; r < n; ++r) first[r + 2]++;
    for (size_t k = 0; k < m->pair_count; ++k) {
        Pair p = m->pair[k];
        if (p.row == p.col) continue;
        first[p.row + 2]++, first[p.col + 2]++;
    }
    for (PliIndex r = 0; r < n; ++r) first[r + 2] += first[r + 1];
    for (PliIndex r = 0; r < n; ++r) m->col[first[r + 1]++] = r;
    for (size_t k = 0; k < m->pair_count; ++k) {
        Pair p = m->pair[k];
        if (p.row == p.col) continue;
        m->col[first[p.row + 1]++] = p.col;
        m->col[first[p.col + 1]++] = p.row;
    }
    // each column once per row
    int *seen = m->scratch;
    for (PliIndex r = 0; r < n; ++r) seen[r] = -1;
    PliIndex used = 0;
    for (PliIndex r = 0, from = 0; r < n; ++r) {
        PliIndex to = first[r + 1], start = used;
        for (PliIndex k = from; k < to; ++k) {
            PliIndex c = m->col[k];
            if (seen[c] == (int)r) continue;
            seen[c] = (int)r;
            m->col[used++] = c;
        }
        sort_columns(m->col + start, used - start);
        first[r] = start;
        from = to;
    }
    first[n] = used;
    if (!RESERVE(m, value, 9 * (size_t)used) || !RESERVE(m, mirror, used)) return false;
    // rows are visited in ascending order, so the mirrors of a row are met in its own order
    PliIndex *next = (PliIndex *)m->scratch;
    memcpy(next, first, (size_t)n * sizeof *next);
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex k = first[r]; k < first[r + 1]; ++k) m->mirror[k] = next[m->col[k]]++;
    return true;
}

/// Fill-reducing order of the blocks. AMD with lent memory: amd_order would call malloc.
static bool build_order(PliBlockMatrix *m, double *fill)
{
    const size_t n = m->n, entries = m->first[n] - n, room = entries + entries / 5 + n + 1;
    if (room > INT_MAX) return false;
    if (!RESERVE(m, order, n) || !RESERVE(m, place, n) || !RESERVE(m, scratch, 7 * n + room)) return false;
    int *pe = m->scratch, *len = pe + n, *nv = len + n, *head = nv + n, *elen = head + n, *degree = elen + n,
        *w = degree + n, *iw = w + n;
    int at = 0;
    for (size_t r = 0; r < n; ++r) {
        pe[r] = at;
        for (PliIndex k = m->first[r]; k < m->first[r + 1]; ++k)
            if (m->col[k] != r) iw[at++] = (int)m->col[k];
        len[r] = at - pe[r];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2((int)n, pe, iw, len, (int)room, at, nv, m->place, m->order, head, elen, degree, w, control, info);
    for (size_t k = 0; k < n; ++k) m->place[m->order[k]] = (int)k;
    *fill = info[AMD_LNZ];
    return true;
}

/// Scalar upper triangle in the new order. Column 3k + c holds the blocks (order^-1) above the diagonal block of pivot k.
static bool build_scalar(PliBlockMatrix *m)
{
    const size_t n = m->n, blocks = (m->first[n] - n) / 2 + n, numbers = 9 * (blocks - n) + 6 * n;
    if (numbers > INT_MAX) return false;
    if (!RESERVE(m, ap, 3 * n + 1) || !RESERVE(m, ai, numbers) || !RESERVE(m, source, numbers) ||
        !RESERVE(m, ax, numbers))
        return false;
    int at = 0;
    for (size_t k = 0; k < n; ++k) {
        size_t r = (size_t)m->order[k];
        for (int c = 0; c < 3; ++c) {
            m->ap[3 * k + c] = at;
            for (PliIndex e = m->first[r]; e < m->first[r + 1]; ++e) {
                size_t i = (size_t)m->place[m->col[e]];
                if (i > k) continue;
                // entry (r, col) is the mirror of what stands above the diagonal: row i of column k is value(col, r)
                const size_t block = 9 * (size_t)m->mirror[e];
                for (int a = 0; a < (i == k ? c + 1 : 3); ++a) {
                    m->ai[at] = (int)(3 * i) + a;
                    m->source[at++] = block + 3 * (size_t)a + (size_t)c;
                }
            }
        }
    }
    m->ap[3 * n] = at;
    return true;
}

PliStatus pli_block_matrix_seal(PliBlockMatrix *m, PliError *err)
{
    m->sealed = m->factored = false;
    const size_t n = m->n, rows = 3 * n;
    double fill = 0.0;
    if (!build_rows(m)) goto no_memory;
    if (n && !build_order(m, &fill)) goto no_memory;
    if (9.0 * fill + 6.0 * (double)n > INT_MAX)
        return pli_refuse(err, PLI_OVER_CAPACITY,
                          "block matrix: the factor of %u block rows needs %.3g numbers, more than %d", m->n,
                          9.0 * fill, INT_MAX);
    if (!build_scalar(m)) goto no_memory;
    if (!RESERVE(m, lp, rows + 1) || !RESERVE(m, parent, rows) || !RESERVE(m, lnz, rows) || !RESERVE(m, flag, rows) ||
        !RESERVE(m, pattern, rows) || !RESERVE(m, d, rows) || !RESERVE(m, y, rows))
        goto no_memory;
    if (n)
        ldl_symbolic((int)rows, m->ap, m->ai, m->lp, m->parent, m->lnz, m->flag, NULL, NULL);
    else
        m->lp[0] = 0;
    if (!RESERVE(m, li, (size_t)m->lp[rows]) || !RESERVE(m, lx, (size_t)m->lp[rows])) goto no_memory;
    m->sealed = true;
    pli_block_matrix_zero(m);
    return PLI_OK;
no_memory:
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "block matrix: no memory for %u block rows and %zu pairs", m->n,
                      m->pair_count);
}

void pli_block_matrix_zero(PliBlockMatrix *m)
{
    memset(m->value, 0, 9 * (size_t)m->first[m->n] * sizeof *m->value);
    m->factored = false;
}

/// Entry (row, col), or PLI_NONE.
static PliIndex find(const PliBlockMatrix *m, PliIndex row, PliIndex col)
{
    PliIndex low = m->first[row], high = m->first[row + 1];
    while (low < high) {
        PliIndex middle = low + (high - low) / 2;
        if (m->col[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->first[row + 1] && m->col[low] == col ? low : PLI_NONE;
}

void pli_block_matrix_add(PliBlockMatrix *m, PliIndex row, PliIndex col, const double k9[9])
{
    PliIndex e = find(m, row, col);
    if (e == PLI_NONE) return;
    double *v = m->value + 9 * (size_t)e;
    for (int i = 0; i < 9; ++i) v[i] += k9[i];
}

bool pli_block_matrix_has(const PliBlockMatrix *m, PliIndex row, PliIndex col) { return find(m, row, col) != PLI_NONE; }

void pli_block_matrix_add_diagonal(PliBlockMatrix *m, PliIndex row, double value)
{
    double *v = m->value + 9 * (size_t)find(m, row, row);
    v[0] += value, v[4] += value, v[8] += value;
}

void pli_block_matrix_fix(PliBlockMatrix *m, PliIndex row)
{
    for (PliIndex e = m->first[row]; e < m->first[row + 1]; ++e) {
        memset(m->value + 9 * (size_t)e, 0, 9 * sizeof *m->value);
        memset(m->value + 9 * (size_t)m->mirror[e], 0, 9 * sizeof *m->value);
    }
    pli_block_matrix_add_diagonal(m, row, 1.0);
}

void pli_block_matrix_apply(const PliBlockMatrix *m, const double *x, double *y)
{
    for (PliIndex r = 0; r < m->n; ++r) {
        double s[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex e = m->first[r]; e < m->first[r + 1]; ++e) {
            const double *v = m->value + 9 * (size_t)e, *p = x + 3 * (size_t)m->col[e];
            for (int i = 0; i < 3; ++i) s[i] += v[3 * i] * p[0] + v[3 * i + 1] * p[1] + v[3 * i + 2] * p[2];
        }
        for (int i = 0; i < 3; ++i) y[3 * (size_t)r + i] = s[i];
    }
}

PliStatus pli_block_matrix_factor(PliBlockMatrix *m, PliError *err)
{
    const int rows = 3 * (int)m->n;
    m->factored = false;
    if (!m->sealed) return pli_refuse(err, PLI_BAD_ARGUMENT, "block matrix: factor was called before seal");
    if (rows == 0) {
        m->factored = true;
        return PLI_OK;
    }
    for (int k = 0; k < m->ap[rows]; ++k) m->ax[k] = m->value[m->source[k]];
    int done = ldl_numeric(rows, m->ap, m->ai, m->ax, m->lp, m->parent, m->lnz, m->li, m->lx, m->d, m->y, m->pattern,
                           m->flag, NULL, NULL);
    m->negative = 0;
    for (int k = 0; k < rows; ++k) {
        if (k >= done || !isfinite(m->d[k]))
            return pli_refuse(err, PLI_DIVERGED, "block matrix: pivot %d of %d (block row %d) is %s", k, rows,
                              m->order[k / 3], k >= done ? "zero" : "not finite");
        if (m->d[k] < 0.0) m->negative++;
    }
    m->factored = true;
    return PLI_OK;
}

void pli_block_matrix_solve(const PliBlockMatrix *m, const double *b, double *x)
{
    if (!m->factored) return;
    const int rows = 3 * (int)m->n;
    for (size_t k = 0; k < m->n; ++k)
        for (size_t c = 0; c < 3; ++c) m->y[3 * k + c] = b[3 * (size_t)m->order[k] + c];
    ldl_lsolve(rows, m->y, m->lp, m->li, m->lx);
    ldl_dsolve(rows, m->y, m->d);
    ldl_ltsolve(rows, m->y, m->lp, m->li, m->lx);
    for (size_t k = 0; k < m->n; ++k)
        for (size_t c = 0; c < 3; ++c) x[3 * (size_t)m->order[k] + c] = m->y[3 * k + c];
}

// The factor is read once for eight right-hand sides: alone, a solve waits for memory.
void pli_block_matrix_solve_eight(const PliBlockMatrix *m, const double *b, double *x, double *work)
{
    if (!m->factored) return;
    const int rows = 3 * (int)m->n;
    for (size_t k = 0; k < m->n; ++k)
        for (size_t c = 0; c < 24; ++c) work[24 * k + c] = b[24 * (size_t)m->order[k] + c];
    for (int j = 0; j < rows; ++j) {
        const double *yj = work + 8 * (size_t)j;
        if (yj[0] == 0.0 && yj[1] == 0.0 && yj[2] == 0.0 && yj[3] == 0.0 && yj[4] == 0.0 && yj[5] == 0.0 &&
            yj[6] == 0.0 && yj[7] == 0.0)
            continue;
        for (int p = m->lp[j]; p < m->lp[j] + m->lnz[j]; ++p) {
            double *yi = work + 8 * (size_t)m->li[p];
            for (int k = 0; k < 8; ++k) yi[k] -= m->lx[p] * yj[k];
        }
    }
    for (int j = rows - 1; j >= 0; --j) {
        double y[8];
        for (int k = 0; k < 8; ++k) y[k] = work[8 * (size_t)j + k] / m->d[j];
        for (int p = m->lp[j]; p < m->lp[j] + m->lnz[j]; ++p) {
            const double *yi = work + 8 * (size_t)m->li[p];
            for (int k = 0; k < 8; ++k) y[k] -= m->lx[p] * yi[k];
        }
        for (int k = 0; k < 8; ++k) work[8 * (size_t)j + k] = y[k];
    }
    for (size_t k = 0; k < m->n; ++k)
        for (size_t c = 0; c < 24; ++c) x[24 * (size_t)m->order[k] + c] = work[24 * k + c];
}

PliIndex pli_block_matrix_negative_pivots(const PliBlockMatrix *m) { return m->factored ? m->negative : 0; }
