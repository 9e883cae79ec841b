/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DENSE_LANES_H
#define PLI_DENSE_LANES_H

// The inner loops of the dense factorisation, written once for eight columns at a time; each vector unit compiles its own copy.
// Pairs of four: compilers split wider vectors than the unit has through memory.

#include "solver/dense.h"

typedef double V4 __attribute__((vector_size(32), aligned(32)));

static void lanes_panel(double *panel, size_t ps, const double *l, size_t ls, int width, size_t first, size_t last)
{
    size_t i = first;
    for (; i + 16 <= last; i += 16) // four chains of sums at a time hide their latency
        for (int p = 1; p < width; ++p) {
            double *to = panel + (size_t)p * ps + i;
            V4 s0 = *(V4 *)to, s1 = *(V4 *)(to + 4), s2 = *(V4 *)(to + 8), s3 = *(V4 *)(to + 12);
            const double *row = l + (size_t)p * ls, *from = panel + i;
            for (int q = 0; q < p; ++q, from += ps) {
                const double f = row[q];
                s0 -= f * *(const V4 *)from, s1 -= f * *(const V4 *)(from + 4);
                s2 -= f * *(const V4 *)(from + 8), s3 -= f * *(const V4 *)(from + 12);
            }
            *(V4 *)to = s0, *(V4 *)(to + 4) = s1, *(V4 *)(to + 8) = s2, *(V4 *)(to + 12) = s3;
        }
    for (; i < last; i += 4)
        for (int p = 1; p < width; ++p) {
            V4 sum = *(V4 *)(panel + (size_t)p * ps + i);
            for (int q = 0; q < p; ++q) sum -= l[(size_t)p * ls + (size_t)q] * *(V4 *)(panel + (size_t)q * ps + i);
            *(V4 *)(panel + (size_t)p * ps + i) = sum;
        }
}

// Eight columns of the panel, packed so that they stay in the nearest cache, meet all rows below them, four at a time.
static void lanes_trail(double *a, size_t stride, const double *panel, size_t ps, int width, size_t tile, size_t row0, size_t last)
{
    V4 pack[2 * PLI_DENSE_TILE];
    for (size_t j = row0; j < last; j += 8) {
        for (int p = 0; p < width; ++p) {
            pack[2 * p] = *(const V4 *)(panel + (size_t)p * ps + j);
            pack[2 * p + 1] = *(const V4 *)(panel + (size_t)p * ps + j + 4);
        }
        for (size_t i = j; i < last; i += 4) {
            const double *l0 = a + i * stride + tile, *l1 = l0 + stride, *l2 = l1 + stride, *l3 = l2 + stride;
            V4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 }, t0 = { 0 }, t1 = { 0 }, t2 = { 0 }, t3 = { 0 };
            for (int p = 0; p < width; ++p) {
                const V4 c = pack[2 * p], d = pack[2 * p + 1];
                s0 += l0[p] * c, t0 += l0[p] * d;
                s1 += l1[p] * c, t1 += l1[p] * d;
                s2 += l2[p] * c, t2 += l2[p] * d;
                s3 += l3[p] * c, t3 += l3[p] * d;
            }
            double *c = a + i * stride + j;
            *(V4 *)c -= s0, *(V4 *)(c + 4) -= t0, c += stride;
            *(V4 *)c -= s1, *(V4 *)(c + 4) -= t1, c += stride;
            *(V4 *)c -= s2, *(V4 *)(c + 4) -= t2, c += stride;
            *(V4 *)c -= s3, *(V4 *)(c + 4) -= t3;
        }
    }
}

#define PLI_DENSE_KERNEL { .panel = lanes_panel, .trail = lanes_trail }

#endif
