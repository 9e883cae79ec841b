/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/condense.h"

#include <string.h>

#include "base/memory.h"
#include "base/wide.h"

enum { LANES = 8 }; ///< columns of a block
typedef double V4 __attribute__((vector_size(32), aligned(8), may_alias));

#define RESERVE(name, count) pli_reserve(&s->host, (void **)&s->name, &s->name##_capacity, (count), sizeof *s->name)

void pli_condense_release(PliCondense *s)
{
#define RELEASE(name) PLI_FREE(&s->host, s->name, s->name##_capacity)
    RELEASE(head), RELEASE(next), RELEASE(column), RELEASE(start), RELEASE(at), RELEASE(reached), RELEASE(mark);
    RELEASE(y), RELEASE(tile);
#undef RELEASE
}

// ---- what is reached -----------------------------------------------------------------------------------------------------------

/// The free active point of entry e, or PLI_NONE.
static PliIndex point_of(const PliTouched *b, const uint8_t *fixed, PliIndex e)
{
    const PliIndex point = b->position[b->rows.column[e]];
    return fixed[point] ? PLI_NONE : point;
}

/// Columns in the order of their first pivots: neighbours in it share most of their way to the root, and blocks of them stay short.
static void order_columns(PliCondense *s, const PliFactor *f, const uint8_t *fixed, const PliTouched *b)
{
    PliIndex at = 0;
    for (PliIndex k = 0; k <= f->n; ++k) s->head[k] = PLI_NONE;
    for (PliIndex j = b->count; j-- > 0;) {
        PliIndex first = f->n;
        for (PliIndex e = b->rows.first[b->dof[j]]; e < b->rows.first[b->dof[j] + 1]; ++e) {
            const PliIndex point = point_of(b, fixed, e);
            if (point != PLI_NONE && f->place[point] < first) first = f->place[point];
        }
        s->next[j] = s->head[first], s->head[first] = j;
    }
    for (PliIndex k = 0; k <= f->n; ++k)
        for (PliIndex j = s->head[k]; j != PLI_NONE; j = s->next[j]) s->column[j] = at++;
}

static void mark_way(PliCondense *s, const PliFactor *f, PliIndex pivot, size_t block, size_t blocks)
{
    for (PliIndex q = f->owner[pivot];;) {
        uint8_t *mark = &s->mark[blocks * q + block];
        if (*mark) return;
        *mark = 1;
        const PliPanel *p = &f->panel[q];
        if (p->rows == p->width) return;
        q = f->owner[f->row[p->row_first + p->width]];
    }
}

/// Marks the panels that each block of columns reaches. @return rows of them in all
static size_t reach(PliCondense *s, const PliFactor *f, const uint8_t *fixed, const PliTouched *b, size_t blocks)
{
    size_t rows = 0;
    memset(s->mark, 0, blocks * f->panels);
    for (PliIndex j = 0; j < b->count; ++j) {
        if (b->is_fixed[b->dof[j]]) continue;
        const size_t first = 3 * (size_t)s->column[j] / LANES, last = (3 * (size_t)s->column[j] + 2) / LANES;
        for (PliIndex e = b->rows.first[b->dof[j]]; e < b->rows.first[b->dof[j] + 1]; ++e) {
            const PliIndex point = point_of(b, fixed, e);
            for (size_t k = first; point != PLI_NONE && k <= last; ++k) mark_way(s, f, f->place[point], k, blocks);
        }
    }
    for (PliIndex q = 0; q < f->panels; ++q) {
        s->start[q] = PLI_NONE;
        if (!memchr(s->mark + blocks * q, 1, blocks)) continue;
        s->start[q] = (PliIndex)rows;
        rows += 3 * (size_t)f->panel[q].width;
    }
    return rows;
}

/// y = B
static void put_columns(PliCondense *s, const PliFactor *f, const uint8_t *fixed, const PliTouched *b, size_t rows)
{
    for (PliIndex j = 0; j < b->count; ++j) {
        if (b->is_fixed[b->dof[j]]) continue;
        for (PliIndex e = b->rows.first[b->dof[j]]; e < b->rows.first[b->dof[j] + 1]; ++e) {
            const PliIndex point = point_of(b, fixed, e);
            if (point == PLI_NONE) continue;
            const PliIndex pivot = f->place[point], q = f->owner[pivot];
            const size_t row = s->start[q] + 3 * (size_t)(pivot - f->panel[q].first);
            for (size_t d = 0; d < 3; ++d) {
                const size_t column = 3 * (size_t)s->column[j] + d;
                s->y[LANES * (rows * (column / LANES) + row + d) + column % LANES] += b->rows.weight[e];
            }
        }
    }
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------------------

// Eight columns are pairs of four: compilers split wider vectors than the unit has through memory.

/// A panel's part of Y = L^-1 B for eight columns: its own rows, then what they take from the rows below (`at`).
PLI_WIDE static void forward(const PliPanel *p, const double *a, const PliIndex *at, PliIndex start, double *columns)
{
    V4 *y = (V4 *)columns, *own = y + 2 * (size_t)start;
    const size_t width = 3 * (size_t)p->width, stride = p->stride;
    const PliIndex below = p->rows - p->width;
    for (size_t i = 0; i < width; ++i, a += stride) {
        V4 s = own[2 * i], t = own[2 * i + 1];
        for (size_t k = 0; k < i; ++k) s -= a[k] * own[2 * k], t -= a[k] * own[2 * k + 1];
        own[2 * i] = s / a[i], own[2 * i + 1] = t / a[i];
    }
    for (PliIndex r = 0; r < below; ++r, a += 3 * stride) { // three rows: as many sums as an adder needs to stay busy
        const double *a1 = a + stride, *a2 = a1 + stride;
        V4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, t0 = { 0 }, t1 = { 0 }, t2 = { 0 }, *to = y + 2 * (size_t)at[r];
        for (size_t k = 0; k < width; ++k) {
            const V4 v = own[2 * k], w = own[2 * k + 1];
            s0 += a[k] * v, s1 += a1[k] * v, s2 += a2[k] * v;
            t0 += a[k] * w, t1 += a1[k] * w, t2 += a2[k] * w;
        }
        to[0] -= s0, to[1] -= t0, to[2] -= s1, to[3] -= t1, to[4] -= s2, to[5] -= t2;
    }
}

/// tile += left^T S right over the rows of a panel.
PLI_WIDE static void add_products(size_t width, const double *sign, const double *left, const double *right,
                                  double *tile)
{
    const V4 *r = (const V4 *)right;
    for (size_t i = 0; i < LANES; i += 4) {
        V4 *to = (V4 *)(tile + LANES * i), s0 = to[0], t0 = to[1], s1 = to[2], t1 = to[3], s2 = to[4], t2 = to[5],
           s3 = to[6], t3 = to[7];
        for (size_t k = 0; k < width; ++k) {
            const double *l = left + LANES * k + i;
            const V4 v = r[2 * k] * sign[k], w = r[2 * k + 1] * sign[k];
            s0 += l[0] * v, s1 += l[1] * v, s2 += l[2] * v, s3 += l[3] * v;
            t0 += l[0] * w, t1 += l[1] * w, t2 += l[2] * w, t3 += l[3] * w;
        }
        to[0] = s0, to[1] = t0, to[2] = s1, to[3] = t1, to[4] = s2, to[5] = t2, to[6] = s3, to[7] = t3;
    }
}

static void pass_panel(PliCondense *s, const PliFactor *f, PliIndex q, size_t blocks, size_t rows)
{
    const PliPanel *p = &f->panel[q];
    const PliIndex start = s->start[q];
    const double *sign = f->sign + 3 * (size_t)p->first;
    size_t reached = 0;
    for (PliIndex r = p->width; r < p->rows; ++r) {
        const PliIndex k = f->row[p->row_first + r], up = f->owner[k];
        s->at[r - p->width] = s->start[up] + 3 * (k - f->panel[up].first);
    }
    for (size_t k = 0; k < blocks; ++k)
        if (s->mark[blocks * q + k]) s->reached[reached++] = (PliIndex)k;
    for (size_t i = 0; i < reached; ++i)
        forward(p, f->value + p->at, s->at, start, s->y + LANES * rows * s->reached[i]);
    for (size_t i = 0; i < reached; ++i)
        for (size_t j = i; j < reached; ++j) {
            const size_t left = s->reached[i], right = s->reached[j];
            add_products(3 * (size_t)p->width, sign, s->y + LANES * (rows * left + start),
                         s->y + LANES * (rows * right + start), s->tile + LANES * LANES * (blocks * left + right));
        }
}

bool pli_condense(PliCondense *s, const PliFactor *f, const uint8_t *fixed, const PliTouched *b, double factor,
                  double *c)
{
    const size_t size = 3 * (size_t)b->count, blocks = (size + LANES - 1) / LANES;
    if (!f->factored) return false;
    if (!RESERVE(head, (size_t)f->n + 1) || !RESERVE(next, b->count) || !RESERVE(column, b->count) ||
        !RESERVE(start, f->panels) || !RESERVE(at, f->n) || !RESERVE(reached, blocks) ||
        !RESERVE(mark, blocks * f->panels) || !RESERVE(tile, blocks * blocks * LANES * LANES))
        return false;
    order_columns(s, f, fixed, b);
    const size_t rows = reach(s, f, fixed, b, blocks);
    if (!RESERVE(y, blocks * rows * LANES)) return false;
    memset(s->y, 0, blocks * rows * LANES * sizeof *s->y);
    memset(s->tile, 0, blocks * blocks * LANES * LANES * sizeof *s->tile);
    put_columns(s, f, fixed, b, rows);
    for (PliIndex q = 0; q < f->panels; ++q)
        if (s->start[q] != PLI_NONE) pass_panel(s, f, q, blocks, rows);
    for (size_t i = 0; i < size; ++i)
        for (size_t j = i; j < size; ++j) {
            const size_t a = 3 * (size_t)s->column[i / 3] + i % 3, d = 3 * (size_t)s->column[j / 3] + j % 3,
                         low = a < d ? a : d, high = a < d ? d : a;
            const double *tile = s->tile + LANES * LANES * (blocks * (low / LANES) + high / LANES);
            c[i * size + j] = c[j * size + i] = factor * tile[LANES * (low % LANES) + high % LANES];
        }
    return true;
}
