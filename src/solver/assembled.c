/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/assembled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "kernel/elastic.h"

#define RESERVE(m, name, count)                                                                                        \
    pli_reserve(&(m)->host, (void **)&(m)->name, &(m)->name##_capacity, (count), sizeof *(m)->name)

void pli_assembled_release(PliAssembled *m)
{
    const PliHost *h = &m->host;
#define RELEASE(name) PLI_FREE(h, m->name, m->name##_capacity)
    RELEASE(order), RELEASE(place), RELEASE(first), RELEASE(column), RELEASE(value), RELEASE(fixed);
    RELEASE(in), RELEASE(out), RELEASE(corner_place), RELEASE(edge_first), RELEASE(edge_column), RELEASE(scratch);
#undef RELEASE
    pli_couplings_release(&m->couplings);
    pli_slave_rows_release(&m->slaves);
}

// ---- which points couple ----------------------------------------------------------------------------------------------------

static void push_pair(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    (void)k9;
    if (row > column) pli_couplings_join(user, row, column); // mirrors come, too
}

/// @return false when stiffness does not come from elements with four corners alone.
static bool push_corners(PliAssembled *m, const PliSystem *s)
{
    const PliIndex *corner;
    PliIndex count;
    PliCouplings *c = &m->couplings;
    if (!s->force->corners || !s->force->corners(s->force_self, &corner, &count)) return false;
    m->slaves.host = m->host;
    if (!RESERVE(m, corner_place, PLI_CORNER_PAIRS * (size_t)count) ||
        !pli_slave_rows_pattern(&m->slaves, s, corner, count))
        c->failed = true;
    for (PliIndex e = 0; e < count && !c->failed; ++e, corner += 4)
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < a; ++b)
                if (corner[a] < s->active_count && corner[b] < s->active_count)
                    pli_couplings_join(c, corner[a], corner[b]);
    pli_couplings_join_slaves(c, &m->slaves);
    return true;
}

static void push_all(PliAssembled *m, const PliStepMatrix *a)
{
    PliCouplings *c = &m->couplings;
    c->host = m->host;
    pli_couplings_begin(c, m->n);
    m->by_corners = push_corners(m, a->system);
    if (!m->by_corners) pli_step_matrix_pattern(a, push_pair, c);
    for (PliIndex i = 0; a->mass_first && i < a->count; ++i)
        for (PliIndex k = a->mass_first[i]; k < a->mass_first[i + 1]; ++k) pli_couplings_join(c, i, a->mass_column[k]);
}

// ---- the order: reverse Cuthill-McKee ----------------------------------------------------------------------------------------

static PliIndex degree_of(const PliAssembled *m, PliIndex i)
{
    return m->couplings.near_first[i + 1] - m->couplings.near_first[i];
}

/// Points reached from `start`, breadth first and small degrees first, into order from `at` on. @return behind the last
static PliIndex spread_from(const PliAssembled *m, PliIndex start, PliIndex at, PliIndex mark, PliIndex *seen,
                            PliIndex *order)
{
    PliIndex end = at;
    order[end++] = start, seen[start] = mark;
    for (PliIndex k = at; k < end; ++k) {
        const PliIndex i = order[k], born = end;
        for (PliIndex e = m->couplings.near_first[i]; e < m->couplings.near_first[i + 1]; ++e) {
            const PliIndex j = m->couplings.near[e];
            if (seen[j] == mark) continue;
            seen[j] = mark;
            PliIndex p = end++;
            for (; p > born && degree_of(m, order[p - 1]) > degree_of(m, j); --p) order[p] = order[p - 1];
            order[p] = j;
        }
    }
    return end;
}

// A row of a sweep waits for its neighbours before it. Rows by the length of the longest chain behind them: the same neighbours are before
// each, so sweeps and incomplete factors are the same, but rows that follow each other need not wait for each other.
static void sort_by_depth(PliAssembled *m)
{
    const PliIndex n = m->n;
    PliIndex *depth = m->scratch, *first = m->scratch + n, most = 0;
    for (PliIndex r = 0; r < n; ++r) {
        const PliIndex i = m->order[r];
        PliIndex d = 0;
        for (PliIndex e = m->couplings.near_first[i]; e < m->couplings.near_first[i + 1]; ++e) {
            const PliIndex c = m->place[m->couplings.near[e]];
            if (c < r && depth[c] + 1 > d) d = depth[c] + 1;
        }
        depth[r] = d;
        most = d > most ? d : most;
    }
    for (PliIndex d = 0; d <= most && n; ++d) first[d] = 0;
    for (PliIndex r = 0; r < n; ++r) ++first[depth[r]];
    for (PliIndex d = 0, at = 0; d <= most && n; ++d) {
        const PliIndex count = first[d];
        first[d] = at, at += count;
    }
    for (PliIndex r = 0; r < n; ++r) m->place[m->order[r]] = first[depth[r]]++;
    for (PliIndex i = 0; i < n; ++i) m->order[m->place[i]] = i;
}

static void order_rows(PliAssembled *m)
{
    const PliIndex n = m->n;
    PliIndex *seen = m->scratch, *done = m->scratch + n, at = 0, mark = 0;
    for (PliIndex i = 0; i < n; ++i) seen[i] = PLI_NONE, done[i] = 0;
    for (PliIndex i = 0; i < n; ++i) {
        if (done[i]) continue;
        PliIndex start = i, end = at;
        for (int round = 0; round < 3; ++round) { // the last one reached is far out
            end = spread_from(m, start, at, mark++, seen, m->order);
            if (round < 2) start = m->order[end - 1];
        }
        for (; at < end; ++at) done[m->order[at]] = 1;
    }
    for (PliIndex k = 0; k < n / 2; ++k) {
        const PliIndex t = m->order[k];
        m->order[k] = m->order[n - 1 - k], m->order[n - 1 - k] = t;
    }
    for (PliIndex k = 0; k < n; ++k) m->place[m->order[k]] = k;
    sort_by_depth(m);
}

// ---- rows ----------------------------------------------------------------------------------------------------------------------

/// Neighbours before row r into column[from ...], ascending. @return behind the last
static PliIndex sort_into(const PliAssembled *m, PliIndex r, bool edges, PliIndex *column, PliIndex from)
{
    PliIndex used = from;
    const PliIndex i = m->order[r];
    for (PliIndex e = m->couplings.near_first[i]; e < m->couplings.near_first[i + 1]; ++e) {
        const PliIndex c = m->place[m->couplings.near[e]];
        if (c > r && !edges) continue;
        PliIndex p = used++;
        for (; p > from && column[p - 1] > c; --p) column[p] = column[p - 1];
        column[p] = c;
    }
    return used;
}

/// Those of `edge`, the one of no use and those of slaves.
static size_t blocks_before_slaves(const PliAssembled *m)
{
    return (size_t)m->n + m->first[m->n] + m->edge_first[m->n] + 1;
}

static size_t all_blocks(const PliAssembled *m)
{
    return blocks_before_slaves(m) + (m->by_corners ? m->slaves.blocks : 0);
}

static bool build_rows(PliAssembled *m, const uint8_t *fixed)
{
    const PliIndex n = m->n;
    if (!RESERVE(m, first, (size_t)n + 1) || !RESERVE(m, column, m->couplings.near_first[n] / 2 + 1)) return false;
    m->first[0] = 0;
    for (PliIndex r = 0; r < n; ++r) m->first[r + 1] = sort_into(m, r, false, m->column, m->first[r]);
    if (!pli_couplings_list(&m->couplings, fixed, true) || !RESERVE(m, edge_first, (size_t)n + 1) ||
        !RESERVE(m, edge_column, (size_t)m->couplings.near_first[n] + 1))
        return false;
    m->edge_first[0] = 0;
    for (PliIndex r = 0; r < n; ++r) m->edge_first[r + 1] = sort_into(m, r, true, m->edge_column, m->edge_first[r]);
    return RESERVE(m, value, 9 * all_blocks(m) + 4) && RESERVE(m, fixed, n) && RESERVE(m, in, 4 * (size_t)n) &&
           RESERVE(m, out, 4 * (size_t)n); // four: vectors read past the last row of a block
}

PliIndex pli_assembled_find(const PliAssembled *m, PliIndex row, PliIndex column)
{
    if (row == column) return row;
    const PliIndex at = pli_sorted_find(m->column, m->first[row], m->first[row + 1], column);
    return at == PLI_NONE ? PLI_NONE : m->n + at;
}

/// Place of the block of two different points, mirrored where the second comes later or is the only one that is free.
static PliIndex place_of(const PliAssembled *m, const uint8_t *fixed, PliIndex i, PliIndex j)
{
    const PliIndex r = m->place[i], c = m->place[j], edges = m->n + m->first[m->n];
    if (fixed[i] && fixed[j]) return edges + m->edge_first[m->n];
    if (fixed[j]) return edges + pli_sorted_find(m->edge_column, m->edge_first[r], m->edge_first[r + 1], c);
    if (fixed[i])
        return (edges + pli_sorted_find(m->edge_column, m->edge_first[c], m->edge_first[c + 1], r)) |
               PLI_PLACE_MIRRORED;
    return r >= c ? pli_assembled_find(m, r, c) : pli_assembled_find(m, c, r) | PLI_PLACE_MIRRORED;
}

/// The blocks of each row, those above the diagonal too, to `near`: point and place, one after the other.
static bool list_blocks(PliAssembled *m)
{
    const PliIndex n = m->n;
    if (4 * (size_t)m->first[n] >= PLI_NONE || !RESERVE(&m->couplings, near, 4 * (size_t)m->first[n] + 1)) return false;
    PliIndex *first = m->couplings.near_first;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = m->first[r]; e < m->first[r + 1]; ++e) first[r + 2] += 2, first[m->column[e] + 2] += 2;
    for (PliIndex r = 0; r < n; ++r) first[r + 2] += first[r + 1];
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = m->first[r]; e < m->first[r + 1]; ++e) {
            const PliIndex c = m->column[e], here = first[r + 1], there = first[c + 1];
            m->couplings.near[here] = m->order[c], m->couplings.near[here + 1] = n + e;
            m->couplings.near[there] = m->order[r], m->couplings.near[there + 1] = (n + e) | PLI_PLACE_MIRRORED;
            first[r + 1] += 2, first[c + 1] += 2;
        }
    return true;
}

/// After list_blocks: by points, what couples with this one.
static const PliIndex *row_places(const void *user, PliIndex point)
{
    const PliAssembled *m = user;
    const PliIndex r = m->place[point];
    m->scratch[point] = r;
    for (PliIndex e = m->couplings.near_first[r]; e < m->couplings.near_first[r + 1]; e += 2)
        m->scratch[m->couplings.near[e]] = m->couplings.near[e + 1];
    return m->scratch;
}

static inline PliIndex corner_place(const PliAssembled *m, const PliSystem *s, bool ranked, PliIndex i, PliIndex j)
{
    const PliIndex n = s->active_count, from = (PliIndex)blocks_before_slaves(m);
    if (i < n && j < n && ranked && !s->fixed[i] && !s->fixed[j]) {
        const PliIndex r = m->place[i], c = m->place[j], high = r > c ? r : c, low = r > c ? c : r;
        return (n + m->first[high] + pli_couplings_place(&m->couplings, high, low)) | (r > c ? 0 : PLI_PLACE_MIRRORED);
    }
    if (i < n && j < n) return place_of(m, s->fixed, i, j);
    return i > j ? from + pli_slave_rows_find(&m->slaves, i - n, j)
                 : (from + pli_slave_rows_find(&m->slaves, j - n, i)) | PLI_PLACE_MIRRORED;
}

PLI_WIDE static void find_places(PliAssembled *m, const PliSystem *s, const PliIndex *corner, PliIndex count,
                                 bool ranked)
{
    static const int row[PLI_CORNER_PAIRS] = { 1, 2, 3, 2, 3, 3 }, column[PLI_CORNER_PAIRS] = { 0, 0, 0, 1, 1, 2 };
    for (PliIndex e = 0; e < count; ++e, corner += 4)
        for (int q = 0; q < PLI_CORNER_PAIRS; ++q)
            m->corner_place[PLI_CORNER_PAIRS * (size_t)e + (size_t)q] =
                corner_place(m, s, ranked, corner[row[q]], corner[column[q]]);
}

static bool place_corners(PliAssembled *m, const PliSystem *s)
{
    const PliIndex *corner;
    PliIndex count;
    s->force->corners(s->force_self, &corner, &count);
    find_places(m, s, corner, count, pli_couplings_rank(&m->couplings, m->first, m->column));
    if (m->slaves.count == 0) return true;
    if (!list_blocks(m)) return false;
    pli_slave_rows_place(&m->slaves, row_places, m);
    return true;
}

PliStatus pli_assembled_pattern(PliAssembled *m, const PliStepMatrix *a)
{
    PliCouplings *c = &m->couplings;
    m->n = a->count;
    push_all(m, a);
    if (!pli_couplings_list(c, a->fixed, false) || !RESERVE(m, order, m->n) || !RESERVE(m, place, m->n) ||
        !RESERVE(m, scratch, 2 * (size_t)m->n))
        return PLI_OUT_OF_MEMORY;
    order_rows(m);
    if (!build_rows(m, a->fixed)) return PLI_OUT_OF_MEMORY;
    if (m->by_corners && !place_corners(m, a->system)) return PLI_OUT_OF_MEMORY;
    pli_couplings_end(c);
    return PLI_OK;
}

// ---- values --------------------------------------------------------------------------------------------------------------------

typedef struct FillArg {
    PliAssembled *m;
    double factor;
} FillArg;

static void fill_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    const FillArg *arg = user;
    PliAssembled *m = arg->m;
    const PliIndex r = m->place[row], c = m->place[column];
    if (c > r) return; // its mirror comes, too
    const PliIndex at = pli_assembled_find(m, r, c);
    if (at == PLI_NONE) return;
    double *v = m->value + 9 * (size_t)at;
    for (int i = 0; i < 9; ++i) v[i] += arg->factor * k9[i];
}

static void add_masses(PliAssembled *m, const PliStepMatrix *a)
{
    FillArg arg = { m, a->mass_factor };
    for (PliIndex i = 0; i < a->count; ++i) {
        double *v = m->value + 9 * (size_t)m->place[i], w = a->mass_factor * a->mass[i];
        if (!a->mass_first) v[0] += w, v[4] += w, v[8] += w;
        for (PliIndex k = a->mass_first ? a->mass_first[i] : 0; a->mass_first && k < a->mass_first[i + 1]; ++k) {
            const double e = a->mass_value[k], block[9] = { e, 0, 0, 0, e, 0, 0, 0, e };
            fill_block(i, a->mass_column[k], block, &arg);
        }
    }
}

static void fix_points(PliAssembled *m, const PliStepMatrix *a)
{
    for (PliIndex r = 0; r < m->n; ++r) {
        m->fixed[r] = a->fixed[m->order[r]];
        double *v = m->value + 9 * (size_t)r;
        for (int i = 0; m->fixed[r] && i < 9; ++i) v[i] = i % 4 == 0 ? 1.0 : 0.0;
    }
}

/// Rows of stiffness sum to zero: diagonal blocks take what is missing.
PLI_WIDE static void sum_up(PliIndex n, const PliIndex *first, const PliIndex *column, const PliIndex *edge,
                            double *value)
{
    const double *b = value + 9 * (size_t)n, *outer = b + 9 * (size_t)first[n];
    for (PliIndex r = 0; r < n; ++r) {
        double *d = value + 9 * (size_t)r, sum[9] = { 0.0 };
        for (PliIndex e = first[r]; e < first[r + 1]; ++e, b += 9) {
            double *c = value + 9 * (size_t)column[e];
            for (int i = 0; i < 9; ++i) sum[i] += b[i], c[i] -= b[i % 3 * 3 + i / 3];
        }
        for (PliIndex e = edge[r]; e < edge[r + 1]; ++e, outer += 9)
            for (int i = 0; i < 9; ++i) sum[i] += outer[i];
        for (int i = 0; i < 9; ++i) d[i] -= sum[i];
    }
}

void pli_assembled_fill(PliAssembled *m, const PliStepMatrix *a)
{
    const PliSystem *s = a->system;
    FillArg arg = { m, a->stiffness_factor };
    memset(m->value, 0, 9 * all_blocks(m) * sizeof *m->value);
    if (m->by_corners) {
        s->force->add_corner_blocks(s->force_self, a->stiffness_factor, m->corner_place, m->value);
        sum_up(m->n, m->first, m->column, m->edge_first, m->value);
        pli_slave_rows_reduce(&m->slaves, m->place, m->n, m->value + 9 * blocks_before_slaves(m), m->value);
    } else {
        pli_step_matrix_stiffness(a, fill_block, &arg);
    }
    add_masses(m, a);
    fix_points(m, a);
}

void pli_assembled_tethers(const PliAssembled *m, const PliStepMatrix *a,
                           void (*fn)(PliIndex block, const double k9[9], void *user), void *user)
{
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
            for (PliIndex f = a->tether_first[j]; f < a->tether_first[j + 1]; ++f) {
                const PliIndex r = m->place[a->tether_column[e]], c = m->place[a->tether_column[f]];
                if (m->fixed[r] || m->fixed[c]) continue;
                const double *q = a->tether_matrix + 6 * (size_t)j, product = a->tether_weight[e] * a->tether_weight[f];
                PliIndex at = r >= c ? pli_assembled_find(m, r, c) : pli_assembled_find(m, c, r);
                if (at != PLI_NONE && c > r) continue; // its mirror comes, too
                const double w = at != PLI_NONE ? product : fabs(product);
                if (at == PLI_NONE) at = r;
                const double block[9] = { w * q[0], w * q[5], w * q[4], w * q[5], w * q[1],
                                          w * q[3], w * q[4], w * q[3], w * q[2] };
                fn(at, block, user);
            }
}

// ---- product -------------------------------------------------------------------------------------------------------------------

typedef double V4 __attribute__((vector_size(32)));
typedef double U4 __attribute__((vector_size(32), aligned(8), may_alias));

// Points in vectors of four with a zero behind; rows of blocks are read with what follows them, which that zero takes out.
PLI_WIDE static void multiply(PliIndex n, const PliIndex *restrict first, const PliIndex *restrict column,
                              const double *restrict value, const double *restrict in, double *restrict out)
{
    const double *below = value + 9 * (size_t)n;
    const V4 *x = (const V4 *)in;
    V4 *y = (V4 *)out;
    const V4 zero = { 0.0 };
    for (PliIndex r = 0; r < n; ++r) {
        const PliIndex from = first[r], to = first[r + 1];
        const double *d = value + 9 * (size_t)r, *b = below + 9 * (size_t)from;
        const V4 xr = x[r], x0 = { xr[0], xr[0], xr[0], xr[0] }, x1 = { xr[1], xr[1], xr[1], xr[1] },
                 x2 = { xr[2], xr[2], xr[2], xr[2] };
        V4 s0 = *(const U4 *)d * xr, s1 = *(const U4 *)(d + 3) * xr, s2 = *(const U4 *)(d + 6) * xr;
        for (PliIndex e = from; e < to; ++e, b += 9) {
            const V4 b0 = *(const U4 *)b, b1 = *(const U4 *)(b + 3), b2 = *(const U4 *)(b + 6), xc = x[column[e]];
            s0 += b0 * xc, s1 += b1 * xc, s2 += b2 * xc;
            y[column[e]] += b0 * x0 + b1 * x1 + b2 * x2;
        }
        const V4 a = __builtin_shufflevector(s0, s1, 0, 4, 2, 6), h = __builtin_shufflevector(s0, s1, 1, 5, 3, 7),
                 c = __builtin_shufflevector(s2, zero, 0, 4, 2, 6), g = __builtin_shufflevector(s2, zero, 1, 5, 3, 7);
        y[r] = (__builtin_shufflevector(a, c, 0, 1, 4, 5) + __builtin_shufflevector(h, g, 0, 1, 4, 5)) +
               __builtin_shufflevector(a, c, 2, 3, 6, 7); // later rows add theirs
    }
    for (PliIndex r = 0; r < n; ++r) y[r][3] = 0.0; // rows of blocks are read with what follows them
}

void pli_assembled_multiply(const PliAssembled *m, const double *in, double *out)
{
    multiply(m->n, m->first, m->column, m->value, in, out);
}

void pli_assembled_apply(const PliAssembled *m, const double *x, double *y)
{
    for (PliIndex r = 0; r < m->n; ++r) {
        const double *p = x + 3 * (size_t)m->order[r];
        double *q = m->in + 4 * (size_t)r;
        q[0] = p[0], q[1] = p[1], q[2] = p[2], q[3] = 0.0;
    }
    pli_assembled_multiply(m, m->in, m->out);
    for (PliIndex r = 0; r < m->n; ++r) memcpy(y + 3 * (size_t)m->order[r], m->out + 4 * (size_t)r, 3 * sizeof *y);
}
