/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/dense.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { TILE = PLI_DENSE_TILE, PAD = 8 };

PliDense *pli_dense_create(const PliHost *host)
{
    PliDense *m = PLI_NEW(host, 1, PliDense);
    if (m) m->host = *host;
    return m;
}

static void drop(PliDense *m)
{
    PLI_FREE(&m->host, m->a, m->capacity);
    PLI_FREE(&m->host, m->d, m->row_capacity);
    PLI_FREE(&m->host, m->panel, TILE * m->row_capacity);
    m->a = m->d = m->panel = NULL;
    m->capacity = m->row_capacity = 0;
}

void pli_dense_destroy(PliDense *m)
{
    if (!m) return;
    const PliHost host = m->host;
    drop(m);
    PLI_FREE(&host, m, 1);
}

PliStatus pli_dense_reserve(PliDense *m, PliIndex n)
{
    // rows are padded to whole vectors, with an odd number of cache lines so that columns do not share one cache set
    size_t rows = ((size_t)n + PAD - 1) / PAD * PAD + PAD;
    if (rows / PAD % 2 == 0) rows += PAD;
    if (rows > m->row_capacity || rows * rows > m->capacity) {
        const size_t wanted = rows + rows / 4 / PAD * PAD;
        drop(m);
        m->row_capacity = wanted;
        m->capacity = wanted * wanted;
        m->a = PLI_NEW(&m->host, m->capacity, double);
        m->d = PLI_NEW(&m->host, m->row_capacity, double);
        m->panel = PLI_NEW(&m->host, TILE * m->row_capacity, double);
        if (!m->a || !m->d || !m->panel) {
            drop(m);
            return PLI_OUT_OF_MEMORY;
        }
    }
    m->n = n;
    m->stride = rows;
    return PLI_OK;
}

void pli_dense_zero(PliDense *m) { memset(m->a, 0, ((size_t)m->n + PAD) * m->stride * sizeof *m->a); }

static const PliDenseKernel *choose(void)
{
    const PliSimd best = pli_simd_best();
    const PliDenseKernel *k = best >= PLI_SIMD_AVX512 ? pli_dense_avx512() : 0;
    if (!k && best >= PLI_SIMD_AVX2) k = pli_dense_avx2();
    return k ? k : &pli_dense_plain;
}

// The tile on the diagonal, row by row: L (unit diagonal implied) below it, pivots in d.
static bool factor_tile(PliDense *m, size_t tile, int width)
{
    double *a = m->a, *d = m->d;
    for (int i = 0; i < width; ++i) {
        double *row = a + (tile + (size_t)i) * m->stride + tile;
        for (int j = 0; j < i; ++j) {
            const double *other = a + (tile + (size_t)j) * m->stride + tile;
            double sum = row[j]; // becomes l_ij d_j
            for (int p = 0; p < j; ++p) sum -= row[p] * other[p];
            row[j] = sum;
        }
        double pivot = row[i];
        for (int j = 0; j < i; ++j) {
            const double l = row[j] / d[tile + (size_t)j];
            pivot -= l * row[j];
            row[j] = l;
        }
        if (!(fabs(pivot) > 0.0) || !isfinite(pivot)) return false;
        d[tile + (size_t)i] = pivot;
        m->negative += pivot < 0.0;
    }
    return true;
}

PliStatus pli_dense_factor(PliDense *m)
{
    const PliDenseKernel *kernel = choose();
    const size_t n = m->n, s = m->stride, ps = m->row_capacity;
    m->negative = 0;
    for (size_t tile = 0; tile < n; tile += TILE) {
        const int width = n - tile < TILE ? (int)(n - tile) : TILE;
        if (!factor_tile(m, tile, width)) return PLI_DIVERGED;
        const size_t below = tile + (size_t)width;
        if (below >= n) break;
        // rows below, transposed: panel[p][i] = (L D)[i][p]
        const size_t last = (n + PAD - 1) / PAD * PAD;
        for (size_t i = below; i < last; ++i)
            for (int p = 0; p < width; ++p) m->panel[(size_t)p * ps + i] = i < n ? m->a[i * s + tile + (size_t)p] : 0.0;
        kernel->panel(m->panel, ps, m->a + tile * s + tile, s, width, below, last);
        for (size_t i = below; i < n; ++i)
            for (int p = 0; p < width; ++p) m->a[i * s + tile + (size_t)p] = m->panel[(size_t)p * ps + i] / m->d[tile + (size_t)p];
        kernel->trail(m->a, s, m->panel, ps, width, tile, below, n);
    }
    return PLI_OK;
}

void pli_dense_solve(const PliDense *m, const double *b, double *x)
{
    const size_t n = m->n, s = m->stride;
    if (x != b) memcpy(x, b, n * sizeof *x);
    for (size_t i = 0; i < n; ++i) {
        const double *row = m->a + i * s;
        double part[4] = { 0.0, 0.0, 0.0, 0.0 };
        size_t p = 0;
        for (; p + 4 <= i; p += 4)
            for (int k = 0; k < 4; ++k) part[k] += row[p + (size_t)k] * x[p + (size_t)k];
        double sum = (part[0] + part[1]) + (part[2] + part[3]);
        for (; p < i; ++p) sum += row[p] * x[p];
        x[i] -= sum;
    }
    for (size_t i = 0; i < n; ++i) x[i] /= m->d[i];
    for (size_t i = n; i-- > 0;) {
        const double *row = m->a + i * s, value = x[i];
        for (size_t p = 0; p < i; ++p) x[p] -= value * row[p];
    }
}
