/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TILES_LANES_H
#define PLI_TILES_LANES_H

// The inner loops of the tiled factorisation, written once for eight columns at a time; each vector unit compiles its own copy.
// Pairs of four: compilers split wider vectors than the unit has through memory.

#include "solver/tiles.h"

typedef double V4 __attribute__((vector_size(32), aligned(32)));

static void lanes_panel(double *panel, const double *l, int width)
{
    for (int i = 0; i < PLI_TILE; i += 16) // four chains of sums at a time hide their latency
        for (int p = 1; p < width; ++p) {
            double *to = panel + p * PLI_TILE + i;
            V4 s0 = *(V4 *)to, s1 = *(V4 *)(to + 4), s2 = *(V4 *)(to + 8), s3 = *(V4 *)(to + 12);
            const double *row = l + p * PLI_TILE, *from = panel + i;
            for (int q = 0; q < p; ++q, from += PLI_TILE) {
                const double f = row[q];
                s0 -= f * *(const V4 *)from, s1 -= f * *(const V4 *)(from + 4);
                s2 -= f * *(const V4 *)(from + 8), s3 -= f * *(const V4 *)(from + 12);
            }
            *(V4 *)to = s0, *(V4 *)(to + 4) = s1, *(V4 *)(to + 8) = s2, *(V4 *)(to + 12) = s3;
        }
}

static void lanes_product(double *c, const double *l, const double *panel, int width, int rows, int columns)
{
    for (int j = 0; j < columns; j += 8)
        for (int i = 0; i < rows; i += 4) {
            const double *l0 = l + i * PLI_TILE, *l1 = l0 + PLI_TILE, *l2 = l1 + PLI_TILE, *l3 = l2 + PLI_TILE,
                         *from = panel + j;
            V4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 }, t0 = { 0 }, t1 = { 0 }, t2 = { 0 }, t3 = { 0 };
            for (int p = 0; p < width; ++p, from += PLI_TILE) {
                const V4 a = *(const V4 *)from, b = *(const V4 *)(from + 4);
                s0 += l0[p] * a, t0 += l0[p] * b;
                s1 += l1[p] * a, t1 += l1[p] * b;
                s2 += l2[p] * a, t2 += l2[p] * b;
                s3 += l3[p] * a, t3 += l3[p] * b;
            }
            double *to = c + i * PLI_TILE + j;
            *(V4 *)to -= s0, *(V4 *)(to + 4) -= t0, to += PLI_TILE;
            *(V4 *)to -= s1, *(V4 *)(to + 4) -= t1, to += PLI_TILE;
            *(V4 *)to -= s2, *(V4 *)(to + 4) -= t2, to += PLI_TILE;
            *(V4 *)to -= s3, *(V4 *)(to + 4) -= t3;
        }
}

#define PLI_TILES_KERNEL                                                                                               \
    {                                                                                                                  \
        .panel = lanes_panel, .product = lanes_product                                                                 \
    }

#endif
