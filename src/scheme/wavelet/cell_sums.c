/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Integrals of one cell at rest: products of values and gradients of every pair of its functions.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/wavelet/cell_sums.h"

static void add_point(PliCellSums *c, double volume, const double *value, const double *grad)
{
    c->volume += volume;
    for (PliIndex a = 0; a < c->n; ++a) {
        const double *ga = grad + 3 * (size_t)a, v0 = volume * ga[0], v1 = volume * ga[1], v2 = volume * ga[2],
                     m = volume * value[a];
        double *load = c->load + 4 * (size_t)a, *to = c->pair + PLI_PAIR_SIZE * ((size_t)a * c->n + a);
        load[0] += m, load[1] += v0, load[2] += v1, load[3] += v2;
        for (PliIndex b = a; b < c->n; ++b, to += PLI_PAIR_SIZE) {
            const double *gb = grad + 3 * (size_t)b;
            to[0] += v0 * gb[0], to[1] += v0 * gb[1], to[2] += v0 * gb[2];
            to[3] += v1 * gb[0], to[4] += v1 * gb[1], to[5] += v1 * gb[2];
            to[6] += v2 * gb[0], to[7] += v2 * gb[1], to[8] += v2 * gb[2];
            to[9] += m * value[b];
        }
    }
}

/// Products of a function and another along one axis: value or slope of the first, of the second.
enum { VV, VS, SV, SS, PRODUCTS };

/// out[PRODUCTS][4][4] += w times products at t
static void add_products(PliIndex kind, int axis, double t, double w, double scale, double out[PRODUCTS][16])
{
    double b[4], d[4];
    const int n = pli_shapes_along(kind, axis, t, b, d);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            out[VV][4 * i + k] += w * b[i] * b[k];
            out[VS][4 * i + k] += w * b[i] * d[k] * scale;
            out[SV][4 * i + k] += w * d[i] * scale * b[k];
            out[SS][4 * i + k] += w * d[i] * d[k] * scale * scale;
        }
}

/// Pairs of products along the first two axes that the ten integrals need, and which of them is used with which one of the third.
enum { PLANES = 9 };
static const uint8_t plane[PLANES][2] = { { VV, VV }, { SS, VV }, { VV, SS }, { SV, VS }, { VS, SV },
                                          { SV, VV }, { VS, VV }, { VV, SV }, { VV, VS } };
/// For axes (p, q) of the slopes in the order first, second, third, and the mass: plane, and product of the third axis.
static const uint8_t recipe[PLI_PAIR_SIZE][2] = { { 1, VV }, { 3, VV }, { 5, VS }, { 4, VV }, { 2, VV },
                                                  { 7, VS }, { 6, SV }, { 8, SV }, { 0, SS }, { 0, VV } };

/// Points on lines of a box: sums over a line, over a row of lines, and then over rows, each for all pairs along its axes.
static void add_lines(const PliWaveletLevel *l, PliIndex cell, PliCellSums *c, const PliWaveletPoint *point,
                      PliIndex count, int axis)
{
    const PliIndex kind = l->shapes->kind[cell];
    const int axes[3] = { axis, (axis + 1) % 3, (axis + 2) % 3 };
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    double scale[3], unused[4], grad[3 * PLI_SHAPE_WIDTH], J[9];
    const double box = pli_wavelet_rest_point(l, cell, 0, middle, NULL, grad);
    memset(J, 0, sizeof J);
    pli_shapes_eval(l->shapes, cell, 0, middle, NULL, grad);
    for (PliIndex k = 0; k < c->n; ++k)
        for (int a = 0; a < 3; ++a)
            J[4 * a] += l->lattice->x[3 * (size_t)l->shapes->vertex[l->shapes->first[cell] + k] + (size_t)a] *
                        grad[3 * (size_t)k + (size_t)a];
    int n[3], stride[3], count_of[3];
    for (int a = 0; a < 3; ++a) count_of[a] = pli_shapes_along(kind, a, 0.5, unused, unused);
    for (int m = 0; m < 3; ++m) {
        scale[m] = 1.0 / J[4 * axes[m]];
        n[m] = count_of[axes[m]];
        stride[m] = axes[m] == 0 ? 1 : axes[m] == 1 ? count_of[0] : count_of[0] * count_of[1];
    }
    for (PliIndex at = 0; at < count;) {
        const double third = point[at].u[axes[2]];
        double row[PLANES][16][16];
        memset(row, 0, sizeof row);
        while (at < count && point[at].u[axes[2]] == third) {
            const double second = point[at].u[axes[1]];
            double line[PRODUCTS][16] = { { 0.0 } }, across[PRODUCTS][16] = { { 0.0 } };
            for (; at < count && point[at].u[axes[1]] == second && point[at].u[axes[2]] == third; ++at)
                add_products(kind, axes[0], point[at].u[axes[0]], box * point[at].weight, scale[0], line);
            add_products(kind, axes[1], second, 1.0, scale[1], across);
            for (int p = 0; p < PLANES; ++p)
                for (int i = 0; i < 16; ++i)
                    for (int k = 0; k < 16; ++k) row[p][i][k] += line[plane[p][0]][i] * across[plane[p][1]][k];
        }
        double last[PRODUCTS][16] = { { 0.0 } };
        add_products(kind, axes[2], third, 1.0, scale[2], last);
        for (int pair = 0; pair < 64 * 64; ++pair) { // (i, j, k) with (I, J, K) along the three axes
            const int i = pair & 3, j = pair >> 2 & 3, k = pair >> 4 & 3, I = pair >> 6 & 3, J2 = pair >> 8 & 3,
                      K = pair >> 10;
            if (i >= n[0] || j >= n[1] || k >= n[2] || I >= n[0] || J2 >= n[1] || K >= n[2]) continue;
            const int a = i * stride[0] + j * stride[1] + k * stride[2],
                      b = I * stride[0] + J2 * stride[1] + K * stride[2];
            if (b < a) continue;
            double *to = c->pair + PLI_PAIR_SIZE * ((size_t)a * c->n + (size_t)b);
            for (int m = 0; m < 9; ++m)
                to[3 * axes[m / 3] + axes[m % 3]] +=
                    row[recipe[m][0]][4 * i + I][4 * j + J2] * last[recipe[m][1]][4 * k + K];
            to[9] += row[recipe[9][0]][4 * i + I][4 * j + J2] * last[recipe[9][1]][4 * k + K];
        }
    }
    double value[PLI_SHAPE_WIDTH];
    for (PliIndex k = 0; k < count; ++k) { // loads, one function at a time
        const double volume = box * point[k].weight;
        c->volume += volume;
        pli_shapes_eval(l->shapes, cell, 0, point[k].u, value, grad);
        for (PliIndex a = 0; a < c->n; ++a) {
            double *load = c->load + 4 * (size_t)a;
            load[0] += volume * value[a];
            for (int d = 0; d < 3; ++d) load[1 + d] += volume * grad[3 * (size_t)a + (size_t)d] / J[4 * d];
        }
    }
}

/// The way of Capell et al. 2002: functions are linear in tetrahedra, six in each of the pieces of a subdivided cell.
static void add_tetrahedra(const PliWaveletLevel *l, PliIndex cell, PliCellSums *c)
{
    enum { SIDE = 4 };                                                               // pieces along an axis
    static const double near = 0.58541019662496845446, far = 0.13819660112501051518; // four points: exact for squares
    static const int way[6][2] = { { 1, 2 }, { 2, 1 }, { 0, 2 }, { 2, 0 }, { 0, 1 }, { 1, 0 } }; // Kuhn's tetrahedra
    static const int first[6] = { 0, 0, 1, 1, 2, 2 };
    const PliShapes *h = l->shapes;
    const bool regular = pli_shapes_regular(h, cell);
    const PliIndex *vertex = h->vertex + h->first[cell],
                   parts = regular ? SIDE * SIDE * SIDE : pli_shapes_parts(h, cell);
    double value[4][PLI_SHAPE_WIDTH], mean[PLI_SHAPE_WIDTH], grad[3 * PLI_SHAPE_WIDTH];
    for (PliIndex k = 0; k < parts && c->good; ++k)
        for (int t = 0; t < 6 && c->good; ++t) {
            double u[3] = { 0.0, 0.0, 0.0 }, x[4][3], edge[9], inverse[9];
            for (int q = 0; q < 4; ++q) {
                const int at[3] = { (int)(k % SIDE), (int)(k / SIDE % SIDE), (int)(k / (SIDE * SIDE)) };
                double w[3];
                if (q > 0) u[q == 1 ? first[t] : way[t][q - 2]] = 1.0;
                for (int a = 0; a < 3; ++a) w[a] = regular ? (at[a] + u[a]) / SIDE : u[a];
                pli_shapes_eval(h, cell, regular ? 0 : k, w, value[q], NULL);
                x[q][0] = x[q][1] = x[q][2] = 0.0;
                for (PliIndex i = 0; i < c->n; ++i) v3_madd(x[q], value[q][i], l->lattice->x + 3 * (size_t)vertex[i]);
            }
            for (int q = 0; q < 3; ++q)
                for (int a = 0; a < 3; ++a) edge[3 * a + q] = x[q + 1][a] - x[0][a];
            const double volume = fabs(m3_det(edge)) / 6.0;
            c->good = volume > 0.0 && m3_inverse(inverse, edge);
            if (!c->good) return;
            for (PliIndex i = 0; i < c->n; ++i)
                for (int a = 0; a < 3; ++a) {
                    double *g = &grad[3 * (size_t)i + (size_t)a];
                    *g = 0.0;
                    for (int q = 0; q < 3; ++q) *g += (value[q + 1][i] - value[0][i]) * inverse[3 * q + a];
                }
            for (int p = 0; p < 4; ++p) {
                for (PliIndex i = 0; i < c->n; ++i) {
                    mean[i] = 0.0;
                    for (int q = 0; q < 4; ++q) mean[i] += (p == q ? near : far) * value[q][i];
                }
                add_point(c, 0.25 * volume, mean, grad);
            }
        }
}

void pli_wavelet_integrate(const PliWavelet *s, const PliWaveletLevel *l, PliIndex cell, PliCellSums *c)
{
    static const double gauss[3] = { 0.11270166537925831148, 0.5, 0.88729833462074168852 },
                        weight[3] = { 5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0 };
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    const PliShapes *h = l->shapes;
    double value[PLI_SHAPE_WIDTH], grad[3 * PLI_SHAPE_WIDTH];
    memset(c->pair, 0, PLI_PAIR_SIZE * (size_t)c->n * c->n * sizeof *c->pair);
    memset(c->load, 0, 4 * (size_t)c->n * sizeof *c->load);
    c->volume = 0.0, c->good = true;
    if (s->def.quadrature == PLI_WAVELET_TETRAHEDRA) {
        add_tetrahedra(l, cell, c);
        return;
    }
    if (l->share && l->share[cell] == PLI_CELL_CUT) { // up to the surface
        int axis;
        const PliIndex count = pli_wavelet_cell_points(s, cell, s->points, &axis);
        if (axis >= 0) {
            add_lines(l, cell, c, s->points, count, axis);
            return;
        }
        for (PliIndex k = 0; k < count && c->good; ++k) {
            const PliWaveletPoint *p = &s->points[k];
            const double volume = p->weight * pli_wavelet_rest_point(l, cell, p->part, p->u, value, grad);
            c->good = volume > 0.0;
            if (c->good) add_point(c, volume, value, grad);
        }
        return;
    }
    if (!pli_shapes_regular(h, cell)) { // many small pieces: their middles
        for (PliIndex p = 0; p < pli_shapes_parts(h, cell); ++p) {
            const double volume = pli_wavelet_rest_point(l, cell, p, middle, value, grad);
            c->good = c->good && volume > 0.0;
            if (c->good) add_point(c, volume, value, grad);
        }
        return;
    }
    const int order = s->def.basis == PLI_WAVELET_TRILINEAR ? 2 : 3;
    for (int q = 0; q < order * order * order; ++q) {
        const int at[3] = { q % order, q / order % order, q / (order * order) };
        double u[3], w = 1.0;
        for (int a = 0; a < 3; ++a) {
            u[a] = order == 3 ? gauss[at[a]] : 0.5 + (at[a] ? 0.28867513459481288225 : -0.28867513459481288225);
            w *= order == 3 ? weight[at[a]] : 0.5;
        }
        const double volume = w * pli_wavelet_rest_point(l, cell, 0, u, value, grad);
        c->good = c->good && volume > 0.0;
        if (c->good) add_point(c, volume, value, grad);
    }
}
