/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Stiffness and mass of every pair of functions at rest. They are integrated once, between control vertices of the finest level, and taken
// to the functions of coarser levels by subdivision: A(k-1) = S^T A(k) S, exactly what integration there would give. With all pairs
// known, any active set is a choice of rows and columns.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"

enum { PAIR = 10 }; ///< doubles: nine of stiffness, one of mass

/// Rows of pairs, all columns.
typedef struct Matrix {
    size_t rows, entries, capacity;
    size_t *first;
    PliIndex *column;
    double *value; ///< [capacity, PAIR]
} Matrix;

/// A row while it grows.
typedef struct Sum {
    PliIndex size;
    PliIndex *list, count;
    uint8_t *has;
    double *value;
} Sum;

static void free_matrix(const PliHost *host, Matrix *m)
{
    PLI_FREE(host, m->first, m->rows + 1);
    PLI_FREE(host, m->column, m->capacity);
    PLI_FREE(host, m->value, PAIR * m->capacity);
    *m = (Matrix){ 0 };
}

static bool make_matrix(const PliHost *host, Matrix *m, size_t rows, size_t capacity)
{
    *m = (Matrix){ .rows = rows,
                   .capacity = capacity,
                   .first = PLI_NEW(host, rows + 1, size_t),
                   .column = PLI_NEW(host, capacity, PliIndex),
                   .value = PLI_NEW(host, PAIR * capacity, double) };
    if (m->first && m->column && m->value) return true;
    free_matrix(host, m);
    return false;
}

static bool make_sum(const PliHost *host, Sum *s, PliIndex size)
{
    *s = (Sum){ .size = size,
                .list = PLI_NEW(host, size, PliIndex),
                .has = PLI_NEW(host, size, uint8_t),
                .value = PLI_NEW(host, PAIR * (size_t)size, double) };
    return s->list && s->has && s->value;
}

static void free_sum(const PliHost *host, Sum *s)
{
    PLI_FREE(host, s->list, s->size);
    PLI_FREE(host, s->has, s->size);
    PLI_FREE(host, s->value, PAIR * (size_t)s->size);
}

static void add(Sum *s, PliIndex column, double w, const double *value)
{
    double *to = s->value + PAIR * (size_t)column;
    if (!s->has[column]) {
        s->has[column] = 1;
        s->list[s->count++] = column;
        memset(to, 0, PAIR * sizeof *to);
    }
    for (int k = 0; k < PAIR; ++k) to[k] += w * value[k];
}

static int by_index(const void *a, const void *b)
{
    const PliIndex x = *(const PliIndex *)a, y = *(const PliIndex *)b;
    return (x > y) - (x < y);
}

static void clear(Sum *s)
{
    for (PliIndex k = 0; k < s->count; ++k) s->has[s->list[k]] = 0;
    s->count = 0;
}

/// The next row of m; its first[] must be known so far.
static bool push(const PliHost *host, Matrix *m, size_t row, Sum *s)
{
    if (m->entries + s->count > m->capacity) {
        Matrix larger;
        if (!make_matrix(host, &larger, m->rows, m->capacity + m->capacity / 2 + s->count)) return false;
        memcpy(larger.first, m->first, (m->rows + 1) * sizeof *m->first);
        memcpy(larger.column, m->column, m->entries * sizeof *m->column);
        memcpy(larger.value, m->value, PAIR * m->entries * sizeof *m->value);
        larger.entries = m->entries;
        free_matrix(host, m);
        *m = larger;
    }
    qsort(s->list, s->count, sizeof *s->list, by_index);
    for (PliIndex k = 0; k < s->count; ++k, ++m->entries) {
        m->column[m->entries] = s->list[k];
        memcpy(m->value + PAIR * m->entries, s->value + PAIR * (size_t)s->list[k], PAIR * sizeof *m->value);
    }
    m->first[row + 1] = m->entries;
    clear(s);
    return true;
}

// ---- integration ----------------------------------------------------------------------------------------------------------------------

/// One cell: pairs of its vertices (upper triangle of vertices, all nine of sum V g_a g_b^T, and the mass), loads and mean gradients.
typedef struct CellSums {
    PliIndex n, kind;
    double *x;    ///< [n, 3] relative to the first vertex: cells alike in these are not integrated again
    double *pair; ///< [n, n, PAIR]
    double *load; ///< [n, 4]: volume, gradient
    double volume;
    bool good;
} CellSums;

static void add_point(CellSums *c, double volume, const double *value, const double *grad)
{
    c->volume += volume;
    for (PliIndex a = 0; a < c->n; ++a) {
        const double *ga = grad + 3 * (size_t)a, v0 = volume * ga[0], v1 = volume * ga[1], v2 = volume * ga[2],
                     m = volume * value[a];
        double *load = c->load + 4 * (size_t)a, *to = c->pair + PAIR * ((size_t)a * c->n + a);
        load[0] += m, load[1] += v0, load[2] += v1, load[3] += v2;
        for (PliIndex b = a; b < c->n; ++b, to += PAIR) {
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
static const uint8_t recipe[PAIR][2] = { { 1, VV }, { 3, VV }, { 5, VS }, { 4, VV }, { 2, VV },
                                         { 7, VS }, { 6, SV }, { 8, SV }, { 0, SS }, { 0, VV } };

/// Points on lines of a box: sums over a line, over a row of lines, and then over rows, each for all pairs along its axes.
static void add_lines(const PliWaveletLevel *l, PliIndex cell, CellSums *c, const PliWaveletPoint *point,
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
            double *to = c->pair + PAIR * ((size_t)a * c->n + (size_t)b);
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

static void integrate(const PliWavelet *s, const PliWaveletLevel *l, PliIndex cell, CellSums *c)
{
    static const double gauss[3] = { 0.11270166537925831148, 0.5, 0.88729833462074168852 },
                        weight[3] = { 5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0 };
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    const PliShapes *h = l->shapes;
    double value[PLI_SHAPE_WIDTH], grad[3 * PLI_SHAPE_WIDTH];
    memset(c->pair, 0, PAIR * (size_t)c->n * c->n * sizeof *c->pair);
    memset(c->load, 0, 4 * (size_t)c->n * sizeof *c->load);
    c->volume = 0.0, c->good = true;
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

/// Mean factor of Young's modulus in every cell: finest ones by points spread evenly in them, others by their children.
static PliStatus find_stiff(PliWavelet *s)
{
    enum { SIDE = 4 };
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    const PliBodyDef *def = &s->def.base;
    if (!def->stiff_region_count) return PLI_OK;
    for (int k = s->level_count - 1; k >= 0; --k) {
        PliWaveletLevel *l = &s->level[k];
        const bool finest = k == s->level_count - 1;
        l->stiff = PLI_NEW(&s->host, l->lattice->cell_count, double);
        if (!l->stiff) return PLI_OUT_OF_MEMORY;
        for (PliIndex c = 0; c < l->lattice->cell_count; ++c) {
            double sum = 0.0, p[3];
            PliIndex count = 0;
            if (finest && pli_shapes_regular(l->shapes, c))
                for (; count < SIDE * SIDE * SIDE; ++count) {
                    const double u[3] = { (count % SIDE + 0.5) / SIDE, (count / SIDE % SIDE + 0.5) / SIDE,
                                          (count / (SIDE * SIDE) + 0.5) / SIDE };
                    pli_wavelet_place_of(s, c, 0, u, p, NULL);
                    sum += pli_body_def_stiffness(def, p);
                }
            else if (finest)
                for (; count < pli_shapes_parts(l->shapes, c); ++count) {
                    pli_wavelet_place_of(s, c, count, middle, p, NULL);
                    sum += pli_body_def_stiffness(def, p);
                }
            else
                for (PliIndex d = l->child_first[c]; d < l->child_first[c + 1]; ++d, ++count)
                    sum += s->level[k + 1].stiff[d];
            l->stiff[c] = sum / count;
        }
    }
    return PLI_OK;
}

/// The same connectivity and the same shape, up to rounding.
static bool alike(const CellSums *c, PliIndex kind, PliIndex n, const double *x, double tolerance)
{
    if (c->kind != kind || c->n != n) return false;
    for (size_t k = 0; k < 3 * (size_t)n; ++k)
        if (fabs(c->x[k] - x[k]) > tolerance) return false;
    return true;
}

enum { KEPT = 96 }; ///< shapes of cells that are remembered

static PliStatus assemble(PliWavelet *s, Matrix *m, PliError *err)
{
    const PliHost *host = &s->host;
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    const PliShapes *h = l->shapes;
    const PliIndex n = s->count;
    PliStatus status = PLI_OK;
    // the pattern
    PliIndex *stamp = PLI_NEW(host, n, PliIndex);
    size_t entries = 0;
    *m = (Matrix){ 0 };
    for (int pass = 0; pass < 2 && stamp; ++pass) {
        if (pass == 1 && !make_matrix(host, m, n, entries)) break;
        memset(stamp, 0xff, n * sizeof *stamp);
        entries = 0;
        for (PliIndex v = 0; v < n; ++v) {
            const size_t begin = entries;
            for (PliIndex k = l->support_first[v]; k < l->support_first[v + 1]; ++k)
                for (PliIndex e = h->first[l->support[k]]; e < h->first[l->support[k] + 1]; ++e) {
                    if (stamp[h->vertex[e]] == v) continue;
                    stamp[h->vertex[e]] = v;
                    if (pass == 1) m->column[entries] = h->vertex[e];
                    entries++;
                }
            if (pass == 1)
                qsort(m->column + begin, entries - begin, sizeof *m->column, by_index), m->first[v + 1] = entries;
        }
    }
    CellSums *kept = PLI_NEW(host, KEPT, CellSums);
    double *x = PLI_NEW(host, 3 * (size_t)h->width, double),
           *pair = PLI_NEW(host, PAIR * (size_t)h->width * h->width, double),
           *load = PLI_NEW(host, 4 * (size_t)h->width, double);
    PliIndex kept_count = 0;
    if (!stamp || !m->first || !kept || !x || !pair || !load) status = PLI_OUT_OF_MEMORY;
    if (m->first) m->entries = entries;
    for (PliIndex c = 0; c < l->lattice->cell_count && status == PLI_OK; ++c) {
        const PliIndex *vertex = h->vertex + h->first[c], width = h->first[c + 1] - h->first[c];
        for (PliIndex k = 0; k < width; ++k)
            v3_sub(x + 3 * (size_t)k, l->lattice->x + 3 * (size_t)vertex[k], l->lattice->x + 3 * (size_t)vertex[0]);
        CellSums own = { .n = width, .kind = h->kind[c], .x = x, .pair = pair, .load = load };
        const bool cut = l->share && l->share[c] == PLI_CELL_CUT;
        if (l->share && l->share[c] == PLI_CELL_EMPTY) continue;
        PliIndex known = cut ? kept_count : 0;
        while (known < kept_count && !alike(&kept[known], own.kind, width, x, 1e-12 * s->size)) known++;
        if (known < kept_count) {
            own = kept[known];
        } else {
            integrate(s, l, c, &own);
            if (!own.good) {
                status = pli_refuse(err, PLI_BAD_MESH, "cell %u of the finest lattice is inside out", c);
                break;
            }
            if (kept_count < KEPT && !cut) {
                CellSums *k = &kept[kept_count++];
                *k = own;
                k->x = PLI_NEW(host, 3 * (size_t)width, double),
                k->pair = PLI_NEW(host, PAIR * (size_t)width * width, double),
                k->load = PLI_NEW(host, 4 * (size_t)width, double);
                if (!k->x || !k->pair || !k->load) {
                    status = PLI_OUT_OF_MEMORY;
                    break;
                }
                memcpy(k->x, x, 3 * (size_t)width * sizeof *x);
                memcpy(k->pair, pair, PAIR * (size_t)width * width * sizeof *pair);
                memcpy(k->load, load, 4 * (size_t)width * sizeof *load);
            }
        }
        const double stiff = l->stiff ? l->stiff[c] : 1.0;
        s->volume += own.volume;
        for (PliIndex a = 0; a < width; ++a) {
            s->load[vertex[a]] += own.load[4 * (size_t)a];
            v3_add(s->mean + 3 * (size_t)vertex[a], s->mean + 3 * (size_t)vertex[a], own.load + 4 * (size_t)a + 1);
            for (PliIndex b = a; b < width; ++b) {
                const double *p = own.pair + PAIR * ((size_t)a * width + b);
                for (int side = 0; side < (a == b ? 1 : 2); ++side) {
                    const PliIndex row = side ? vertex[b] : vertex[a], column = side ? vertex[a] : vertex[b];
                    size_t low = m->first[row], high = m->first[row + 1];
                    while (high - low > 1) {
                        const size_t mid = (low + high) / 2;
                        if (m->column[mid] <= column)
                            low = mid;
                        else
                            high = mid;
                    }
                    double *to = m->value + PAIR * low;
                    if (side)
                        for (int k = 0; k < 9; ++k) to[k] += stiff * p[3 * (k % 3) + k / 3];
                    else
                        for (int k = 0; k < 9; ++k) to[k] += stiff * p[k];
                    to[9] += p[9];
                }
            }
        }
    }
    for (PliIndex k = 0; k < kept_count; ++k) {
        PLI_FREE(host, kept[k].x, 3 * (size_t)kept[k].n);
        PLI_FREE(host, kept[k].pair, PAIR * (size_t)kept[k].n * kept[k].n);
        PLI_FREE(host, kept[k].load, 4 * (size_t)kept[k].n);
    }
    PLI_FREE(host, kept, KEPT);
    PLI_FREE(host, x, 3 * (size_t)h->width);
    PLI_FREE(host, pair, PAIR * (size_t)h->width * h->width);
    PLI_FREE(host, load, 4 * (size_t)h->width);
    PLI_FREE(host, stamp, n);
    if (status == PLI_OUT_OF_MEMORY) return pli_refuse(err, status, "no memory for the pairs of %u functions", n);
    if (status != PLI_OK) return status;
    // sum V g_a g_b^T becomes stiffness, volume becomes mass
    const double lambda = s->lame.bulk, mu = s->def.base.material.young / (2.0 * (1.0 + s->def.base.material.poisson)),
                 density = s->def.base.material.density;
    for (size_t k = 0; k < m->entries; ++k) {
        double *v = m->value + PAIR * k, g[9];
        memcpy(g, v, sizeof g);
        const double trace = g[0] + g[4] + g[8];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                v[3 * i + j] = lambda * g[3 * i + j] + mu * g[3 * j + i] + (i == j ? mu * trace : 0.0);
        v[9] *= density;
    }
    for (PliIndex v = 0; v < n; ++v) s->load[v] *= density, v3_scale(s->mean + 3 * (size_t)v, 1.0 / s->volume);
    s->total_mass = density * s->volume;
    return PLI_OK;
}

// ---- through the levels ---------------------------------------------------------------------------------------------------------------

/// c = a S
static bool times_rows(const PliHost *host, const Matrix *a, PliRows r, Sum *sum, Matrix *c)
{
    if (!make_matrix(host, c, a->rows, a->entries)) return false;
    for (size_t i = 0; i < a->rows; ++i) {
        for (size_t k = a->first[i]; k < a->first[i + 1]; ++k)
            for (PliIndex e = r.first[a->column[k]]; e < r.first[a->column[k] + 1]; ++e)
                add(sum, r.column[e], r.weight[e], a->value + PAIR * k);
        if (!push(host, c, i, sum)) return false;
    }
    return true;
}

/// a = S^T c
static bool transpose_times(const PliHost *host, PliRows r, const Matrix *c, Sum *sum, Matrix *a)
{
    PliIndex *first = PLI_NEW(host, (size_t)r.in_count + 2, PliIndex),
             *item = PLI_NEW(host, r.first[r.out_count], PliIndex);
    bool good = first && item && make_matrix(host, a, r.in_count, c->entries / 4 + 1);
    double *weight = PLI_NEW(host, r.first[r.out_count], double);
    good = good && weight;
    for (PliIndex k = 0; good && k < r.first[r.out_count]; ++k) first[r.column[k] + 2]++;
    for (PliIndex j = 0; good && j < r.in_count; ++j) first[j + 2] += first[j + 1];
    for (PliIndex i = 0; good && i < r.out_count; ++i)
        for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k) {
            const PliIndex at = first[r.column[k] + 1]++;
            item[at] = i, weight[at] = r.weight[k];
        }
    for (PliIndex j = 0; good && j < r.in_count; ++j) {
        for (PliIndex k = first[j]; k < first[j + 1]; ++k)
            for (size_t e = c->first[item[k]]; e < c->first[item[k] + 1]; ++e)
                add(sum, c->column[e], weight[k], c->value + PAIR * e);
        good = push(host, a, j, sum);
    }
    PLI_FREE(host, weight, r.first[r.out_count]);
    PLI_FREE(host, first, (size_t)r.in_count + 2);
    PLI_FREE(host, item, r.first[r.out_count]);
    return good;
}

/// Loads and mean gradients of functions from those of control vertices: down the levels, odd ones stay.
static void contract_loads(PliWavelet *s)
{
    for (int k = s->level_count - 1; k > 0; --k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex even = s->level[k - 1].lattice->vertex_count;
        double *f = s->x_level, *load = s->v_level;
        memset(f, 0, 3 * (size_t)even * sizeof *f);
        memset(load, 0, even * sizeof *load);
        pli_rows_add_transpose((PliRows){ r.first, r.column, r.weight, s->level[k].lattice->vertex_count, even },
                               s->mean, f);
        for (PliIndex i = 0; i < s->level[k].lattice->vertex_count; ++i)
            for (PliIndex e = r.first[i]; e < r.first[i + 1]; ++e) load[r.column[e]] += r.weight[e] * s->load[i];
        memcpy(s->mean, f, 3 * (size_t)even * sizeof *f);
        memcpy(s->load, load, even * sizeof *load);
    }
}

// Functions of one level on a regular lattice are translates of each other, and so are their pairs, up to rounding: values that
// agree to a 1e-12 of the largest are kept once.
typedef struct Pairs {
    size_t count;
    double grid[2];  ///< of stiffness and of mass: what counts as the same
    PliIndex *table; ///< of blocks, by hash; PLI_NONE: free
    size_t table_size;
} Pairs;

static void round_to_grid(const Pairs *p, const double *stiffness, double mass, int64_t out[PAIR])
{
    for (int k = 0; k < 9; ++k) out[k] = llround(stiffness[k] / p->grid[0]);
    out[9] = llround(mass / p->grid[1]);
}

static bool grow_table(PliWavelet *s, Pairs *p)
{
    const size_t size = p->table_size ? 2 * p->table_size : 4096;
    PliIndex *table = PLI_NEW(&s->host, size, PliIndex);
    if (!table) return false;
    memset(table, 0xff, size * sizeof *table);
    for (PliIndex b = 0; b < s->block_count; ++b) {
        int64_t r[PAIR];
        round_to_grid(p, s->block_stiffness + 9 * (size_t)b, s->block_mass[b], r);
        size_t at = pli_hash(PLI_HASH_SEED, r, sizeof r) & (size - 1);
        while (table[at] != PLI_NONE) at = (at + 1) & (size - 1);
        table[at] = b;
    }
    PLI_FREE(&s->host, p->table, p->table_size);
    p->table = table, p->table_size = size;
    return true;
}

/// Room for `blocks` blocks, those there are stay.
static bool resize_blocks(PliWavelet *s, size_t blocks)
{
    double *k = PLI_NEW(&s->host, 9 * blocks, double), *m = PLI_NEW(&s->host, blocks, double);
    const bool good = k && m;
    if (good && s->block_count) {
        memcpy(k, s->block_stiffness, 9 * (size_t)s->block_count * sizeof *k);
        memcpy(m, s->block_mass, s->block_count * sizeof *m);
    }
    PLI_FREE(&s->host, good ? s->block_stiffness : k, 9 * (good ? s->block_capacity : blocks));
    PLI_FREE(&s->host, good ? s->block_mass : m, good ? s->block_capacity : blocks);
    if (good) s->block_stiffness = k, s->block_mass = m, s->block_capacity = blocks;
    return good;
}

static bool resize_pairs(PliWavelet *s, const Pairs *p, size_t pairs)
{
    PliIndex *c = PLI_NEW(&s->host, pairs, PliIndex), *b = PLI_NEW(&s->host, pairs, PliIndex);
    const bool good = c && b;
    if (good && p->count) {
        memcpy(c, s->pair_column, p->count * sizeof *c);
        memcpy(b, s->pair_block, p->count * sizeof *b);
    }
    PLI_FREE(&s->host, good ? s->pair_column : c, good ? s->pair_capacity : pairs);
    PLI_FREE(&s->host, good ? s->pair_block : b, good ? s->pair_capacity : pairs);
    if (good) s->pair_column = c, s->pair_block = b, s->pair_capacity = pairs;
    return good;
}

/// The block of these values. PLI_NONE: no memory
static PliIndex block_of(PliWavelet *s, Pairs *p, const double *value)
{
    int64_t r[PAIR], other[PAIR];
    if (2 * (size_t)s->block_count >= p->table_size && !grow_table(s, p)) return PLI_NONE;
    round_to_grid(p, value, value[9], r);
    size_t at = pli_hash(PLI_HASH_SEED, r, sizeof r) & (p->table_size - 1);
    for (; p->table[at] != PLI_NONE; at = (at + 1) & (p->table_size - 1)) {
        const PliIndex b = p->table[at];
        round_to_grid(p, s->block_stiffness + 9 * (size_t)b, s->block_mass[b], other);
        if (memcmp(r, other, sizeof r) == 0) return b;
    }
    const size_t n = s->block_count;
    if (n == s->block_capacity && !resize_blocks(s, n + n / 2 + 1024)) return PLI_NONE;
    memcpy(s->block_stiffness + 9 * n, value, 9 * sizeof *value);
    s->block_mass[n] = value[9];
    p->table[at] = s->block_count;
    return s->block_count++;
}

static bool keep_pair(PliWavelet *s, Pairs *p, PliIndex column, const double *value)
{
    if (p->count == s->pair_capacity && !resize_pairs(s, p, p->count + p->count / 2 + 1024)) return false;
    const PliIndex block = block_of(s, p, value);
    if (block == PLI_NONE) return false;
    s->pair_column[p->count] = column;
    s->pair_block[p->count++] = block;
    return true;
}

static void find_grid(const PliWavelet *s, const Matrix *a, double grid[2])
{
    double most[2] = { 0.0, 0.0 };
    for (int k = 0; k < s->level_count; ++k)
        for (size_t e = 0; e < a[k].entries; ++e)
            for (int i = 0; i < PAIR; ++i) most[i == 9] = fmax(most[i == 9], fabs(a[k].value[PAIR * e + (size_t)i]));
    for (int i = 0; i < 2; ++i) grid[i] = most[i] > 0.0 ? 1e-12 * most[i] : 1.0;
}

/// Rows of functions from rows of control vertices.
static bool collect_pairs(PliWavelet *s, const Matrix *a, Sum *sum)
{
    Pairs pairs = { 0 };
    Sum next = { 0 };
    find_grid(s, a, pairs.grid);
    bool good = make_sum(&s->host, &next, sum->size);
    PliIndex row = 0;
    for (int k = 0; k < s->level_count && good; ++k)
        for (; row < s->level[k].lattice->vertex_count && good; ++row) {
            Sum *now = sum, *then = &next;
            for (size_t e = a[k].first[row]; e < a[k].first[row + 1]; ++e)
                add(now, a[k].column[e], 1.0, a[k].value + PAIR * e);
            for (int j = k; good; --j) {
                const PliIndex even = j > 0 ? s->level[j - 1].lattice->vertex_count : 0;
                qsort(now->list, now->count, sizeof *now->list, by_index);
                for (PliIndex e = 0; e < now->count && good; ++e)
                    if (now->list[e] >= even && now->list[e] <= row &&
                        !(s->dropped && (s->dropped[row] || s->dropped[now->list[e]])))
                        good = keep_pair(s, &pairs, now->list[e], now->value + PAIR * (size_t)now->list[e]);
                if (j == 0) break;
                const PliRows r = pli_transfer_rows(s->level[j].rows);
                for (PliIndex e = 0; e < now->count; ++e)
                    for (PliIndex i = r.first[now->list[e]]; i < r.first[now->list[e] + 1]; ++i)
                        add(then, r.column[i], r.weight[i], now->value + PAIR * (size_t)now->list[e]);
                clear(now);
                Sum *keep = now;
                now = then, then = keep;
            }
            clear(now);
            s->pair_first[row + 1] = (PliIndex)pairs.count;
            good = good && pairs.count < PLI_NONE;
        }
    free_sum(&s->host, &next);
    PLI_FREE(&s->host, pairs.table, pairs.table_size);
    return good && resize_pairs(s, &pairs, pairs.count) && resize_blocks(s, s->block_count);
}

// ---- rows, and an order --------------------------------------------------------------------------------------------------------------

/// Control vertices of levels 1 .. as rows over functions.
static bool make_rows(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const PliIndex rows = s->dof_count - s->count;
    size_t capacity = 0;
    double *dense = PLI_NEW(host, s->count, double);
    PliIndex *list = PLI_NEW(host, s->count, PliIndex);
    s->row_first = PLI_NEW(host, (size_t)rows + 1, PliIndex);
    bool good = dense && list && s->row_first;
    PliIndex row = 0;
    for (int k = 1; k < s->level_count && good; ++k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex before = k > 1 ? s->level[k - 1].dof_first - s->count : 0,
                       even = s->level[k - 1].lattice->vertex_count;
        for (PliIndex v = 0; v < s->level[k].lattice->vertex_count && good; ++v, ++row) {
            PliIndex count = 0;
            if (v >= even) dense[v] = 1.0, list[count++] = v;
            for (PliIndex e = r.first[v]; e < r.first[v + 1]; ++e) {
                const PliIndex j = r.column[e];
                const PliIndex from = k > 1 ? s->row_first[before + j] : 0,
                               to = k > 1 ? s->row_first[before + j + 1] : 1;
                for (PliIndex i = from; i < to; ++i) {
                    const PliIndex column = k > 1 ? s->row_column[i] : j;
                    if (dense[column] == 0.0) list[count++] = column;
                    dense[column] += r.weight[e] * (k > 1 ? s->row_weight[i] : 1.0);
                    if (dense[column] == 0.0) dense[column] = 1e-300; // is listed already
                }
            }
            qsort(list, count, sizeof *list, by_index);
            if (s->row_entries + count > capacity) {
                const size_t larger = capacity + capacity / 2 + 64 * (size_t)s->count + count;
                PliIndex *c = PLI_NEW(host, larger, PliIndex);
                double *w = PLI_NEW(host, larger, double);
                if (c && w && s->row_entries)
                    memcpy(c, s->row_column, s->row_entries * sizeof *c),
                        memcpy(w, s->row_weight, s->row_entries * sizeof *w);
                PLI_FREE(host, s->row_column, capacity);
                PLI_FREE(host, s->row_weight, capacity);
                s->row_column = c, s->row_weight = w, capacity = larger;
                good = c && w;
            }
            for (PliIndex i = 0; i < count && good; ++i) {
                s->row_column[s->row_entries] = list[i];
                s->row_weight[s->row_entries++] = dense[list[i]];
            }
            for (PliIndex i = 0; i < count; ++i) dense[list[i]] = 0.0;
            s->row_first[row + 1] = (PliIndex)s->row_entries;
        }
    }
    s->row_capacity = capacity;
    PLI_FREE(host, dense, s->count);
    PLI_FREE(host, list, s->count);
    return good;
}

typedef struct Morton {
    uint64_t key;
    PliIndex index;
} Morton;

static int by_key(const void *a, const void *b)
{
    const Morton *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

static bool make_order(PliWavelet *s)
{
    Morton *m = PLI_NEW(&s->host, s->count, Morton);
    s->order = PLI_NEW(&s->host, s->count, PliIndex);
    if (!m || !s->order) {
        PLI_FREE(&s->host, m, s->count);
        return false;
    }
    double lo[3] = { INFINITY, INFINITY, INFINITY };
    for (PliIndex i = 0; i < s->count; ++i)
        for (int d = 0; d < 3; ++d) lo[d] = fmin(lo[d], s->place[3 * (size_t)i + (size_t)d]);
    for (PliIndex i = 0; i < s->count; ++i) {
        m[i] = (Morton){ 0, i };
        for (int d = 0; d < 3; ++d) {
            const uint64_t at = (uint64_t)(1023.0 * fmin(1.0, (s->place[3 * (size_t)i + (size_t)d] - lo[d]) / s->size));
            for (int bit = 0; bit < 10; ++bit) m[i].key |= (at >> bit & 1) << (3 * bit + d);
        }
    }
    qsort(m, s->count, sizeof *m, by_key);
    for (PliIndex i = 0; i < s->count; ++i) s->order[i] = m[i].index;
    PLI_FREE(&s->host, m, s->count);
    return true;
}

PliStatus pli_wavelet_make_pairs(PliWavelet *s, PliError *err)
{
    const PliHost *host = &s->host;
    s->load = PLI_NEW(host, s->count, double);
    s->mean = PLI_NEW(host, 3 * (size_t)s->count, double);
    s->inverse = PLI_NEW(host, 9 * (size_t)s->count, double);
    s->pair_first = PLI_NEW(host, (size_t)s->count + 1, PliIndex);
    Matrix a[PLI_WAVELET_LEVELS] = { { 0 } };
    Sum sum = { 0 };
    PliStatus status = s->load && s->mean && s->inverse && s->pair_first && make_sum(host, &sum, s->count)
                           ? PLI_OK
                           : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = find_stiff(s);
    if (status == PLI_OK) status = assemble(s, &a[s->level_count - 1], err);
    if (status == PLI_OK) contract_loads(s);
    if (status == PLI_OK && s->inside) status = pli_wavelet_merge(s, err);
    for (int k = s->level_count - 1; k > 0 && status == PLI_OK; --k) {
        Matrix c = { 0 };
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        if (!times_rows(host, &a[k], r, &sum, &c) || !transpose_times(host, r, &c, &sum, &a[k - 1]))
            status = PLI_OUT_OF_MEMORY;
        free_matrix(host, &c);
    }
    if (status == PLI_OK && s->merge && s->level_count == 1) {
        Matrix c = { 0 }, merged = { 0 };
        const PliRows r = pli_transfer_rows(s->merge);
        if (!times_rows(host, &a[0], r, &sum, &c) || !transpose_times(host, r, &c, &sum, &merged))
            status = PLI_OUT_OF_MEMORY;
        free_matrix(host, &c);
        free_matrix(host, &a[0]);
        a[0] = merged;
    }
    if (status == PLI_OK && !collect_pairs(s, a, &sum)) status = PLI_OUT_OF_MEMORY;
    for (int k = 0; k < PLI_WAVELET_LEVELS; ++k) free_matrix(host, &a[k]);
    free_sum(host, &sum);
    if (status == PLI_OK && (!make_rows(s) || !make_order(s))) status = PLI_OUT_OF_MEMORY;
    if (status == PLI_OUT_OF_MEMORY)
        return pli_refuse(err, status, "no memory for the pairs of %u functions", s->count);
    if (status != PLI_OK) return status;
    for (PliIndex i = 0; i < s->count; ++i) {
        const PliIndex at = s->pair_first[i + 1];
        for (PliIndex k = s->pair_first[i]; k < at; ++k)
            if (s->pair_column[k] == i)
                m3_inverse(s->inverse + 9 * (size_t)i, s->block_stiffness + 9 * (size_t)s->pair_block[k]);
    }
    s->info.full_entries = 9 * (2 * (size_t)s->pair_first[s->count] - s->count);
    s->info.volume = s->volume;
    return PLI_OK;
}

void pli_wavelet_free_pairs(PliWavelet *s)
{
    const PliHost *host = &s->host;
    PLI_FREE(host, s->load, s->count);
    PLI_FREE(host, s->mean, 3 * (size_t)s->count);
    PLI_FREE(host, s->inverse, 9 * (size_t)s->count);
    PLI_FREE(host, s->pair_first, (size_t)s->count + 1);
    PLI_FREE(host, s->pair_column, s->pair_capacity);
    PLI_FREE(host, s->pair_block, s->pair_capacity);
    PLI_FREE(host, s->block_stiffness, 9 * s->block_capacity);
    PLI_FREE(host, s->block_mass, s->block_capacity);
    PLI_FREE(host, s->row_first, (size_t)(s->dof_count - s->count) + 1);
    PLI_FREE(host, s->row_column, s->row_capacity);
    PLI_FREE(host, s->row_weight, s->row_capacity);
    PLI_FREE(host, s->order, s->count);
    for (int k = 0; k < s->level_count; ++k)
        if (s->level[k].stiff) PLI_FREE(host, s->level[k].stiff, s->level[k].lattice->cell_count);
}
