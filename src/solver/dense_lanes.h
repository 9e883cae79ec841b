/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DENSE_LANES_H
#define PLI_DENSE_LANES_H

// The inner loops of the dense factorisation, written once for eight columns at a time; each vector unit compiles its own copy.

#include "solver/dense.h"

typedef double V8 __attribute__((vector_size(64), aligned(64)));

static void lanes_panel(double *panel, size_t ps, const double *l, size_t ls, int width, size_t first, size_t last)
{
    for (size_t i = first; i < last; i += 8)
        for (int p = 1; p < width; ++p) {
            V8 sum = *(V8 *)(panel + (size_t)p * ps + i);
            for (int q = 0; q < p; ++q) sum -= l[(size_t)p * ls + (size_t)q] * *(V8 *)(panel + (size_t)q * ps + i);
            *(V8 *)(panel + (size_t)p * ps + i) = sum;
        }
}

static void lanes_trail(double *a, size_t stride, const double *panel, size_t ps, int width, size_t tile, size_t row0, size_t last)
{
    for (size_t i = row0; i < last; i += 4) {
        const double *l0 = a + i * stride + tile, *l1 = l0 + stride, *l2 = l1 + stride, *l3 = l2 + stride;
        for (size_t j = row0; j <= i + 3; j += 8) {
            V8 s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
            const double *w = panel + j;
            for (int p = 0; p < width; ++p, w += ps) {
                const V8 column = *(const V8 *)w;
                s0 += l0[p] * column, s1 += l1[p] * column, s2 += l2[p] * column, s3 += l3[p] * column;
            }
            double *c = a + i * stride + j;
            *(V8 *)c -= s0;
            *(V8 *)(c + stride) -= s1;
            *(V8 *)(c + 2 * stride) -= s2;
            *(V8 *)(c + 3 * stride) -= s3;
        }
    }
}

#define PLI_DENSE_KERNEL { .panel = lanes_panel, .trail = lanes_trail }

#endif
