/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Sparse symmetric matrix of 3x3 blocks: rows of blocks for products, and its factor.
// Memory grows in begin/push/seal only and is kept, so that later patterns of the same size allocate nothing.
#include "solver/linear.h"

#include "base/memory.h"
#include "base/sorted.h"
#include "solver/factor.h"

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

    PliIndex *diagonal; ///< entry of each row
    size_t diagonal_capacity;
    PliFactor factor;
    int *scratch; ///< marks
    size_t scratch_capacity;
};

#define RESERVE(m, name, count)                                                                                        \
    pli_reserve(&(m)->host, (void **)&(m)->name, &(m)->name##_capacity, (count), sizeof *(m)->name)

PliBlockMatrix *pli_block_matrix_create(const PliHost *host)
{
    PliBlockMatrix *m = PLI_NEW(host, 1, PliBlockMatrix);
    if (m) m->host = m->factor.host = *host;
    return m;
}

void pli_block_matrix_destroy(PliBlockMatrix *m)
{
    if (!m) return;
    PliHost host = m->host;
#define RELEASE(name) PLI_FREE(&host, m->name, m->name##_capacity)
    RELEASE(pair), RELEASE(first), RELEASE(col), RELEASE(value), RELEASE(mirror);
    RELEASE(diagonal), RELEASE(scratch);
#undef RELEASE
    pli_factor_release(&m->factor);
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

PliStatus pli_block_matrix_seal(PliBlockMatrix *m, PliError *err)
{
    m->sealed = m->factored = false;
    if (!build_rows(m) || !RESERVE(m, diagonal, m->n) ||
        pli_factor_pattern(&m->factor, m->n, m->first, m->col) != PLI_OK)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "block matrix: no memory for %u block rows and %zu pairs", m->n,
                          m->pair_count);
    for (PliIndex r = 0; r < m->n; ++r)
        for (PliIndex e = m->first[r]; e < m->first[r + 1]; ++e)
            if (m->col[e] == r) m->diagonal[r] = e;
    m->sealed = true;
    pli_block_matrix_zero(m);
    return PLI_OK;
}

void pli_block_matrix_zero(PliBlockMatrix *m)
{
    memset(m->value, 0, 9 * (size_t)m->first[m->n] * sizeof *m->value);
    m->factored = false;
}

/// Entry (row, col), or PLI_NONE.
static PliIndex find(const PliBlockMatrix *m, PliIndex row, PliIndex col)
{
    return pli_sorted_find(m->col, m->first[row], m->first[row + 1], col);
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
    m->factored = false;
    if (!m->sealed) return pli_refuse(err, PLI_BAD_ARGUMENT, "block matrix: factor was called before seal");
    const PliIndex rows = 3 * m->n, done = pli_factor_numeric(&m->factor, m->value, 0, m->diagonal);
    if (done < rows)
        return pli_refuse(err, PLI_DIVERGED, "block matrix: pivot %u of %u (block row %u) is zero or not finite", done,
                          rows, m->factor.order[done / 3]);
    m->factored = true;
    return PLI_OK;
}

void pli_block_matrix_solve(const PliBlockMatrix *m, const double *b, double *x)
{
    if (m->factored) pli_factor_solve(&m->factor, b, x);
}

void pli_block_matrix_solve_eight(const PliBlockMatrix *m, const double *b, double *x, double *work)
{
    if (m->factored) pli_factor_solve_eight(&m->factor, b, x, work);
}

PliIndex pli_block_matrix_negative_pivots(const PliBlockMatrix *m) { return m->factored ? m->factor.negative : 0; }
