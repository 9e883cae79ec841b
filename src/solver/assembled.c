/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/assembled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "kernel/elastic.h"

#define RESERVE(m, name, count)                                                                                        \
    pli_reserve(&(m)->host, (void **)&(m)->name, &(m)->name##_capacity, (count), sizeof *(m)->name)

void pli_assembled_release(PliAssembled *m)
{
    const PliHost *h = &m->host;
#define RELEASE(name) PLI_FREE(h, m->name, m->name##_capacity)
    RELEASE(order), RELEASE(place), RELEASE(first), RELEASE(column), RELEASE(value), RELEASE(fixed);
    RELEASE(in), RELEASE(out), RELEASE(corner_place), RELEASE(reduced), RELEASE(reduced_column);
    RELEASE(edge_first), RELEASE(edge_column), RELEASE(reduced_place), RELEASE(reduced_weight), RELEASE(pair),
        RELEASE(near_first), RELEASE(near), RELEASE(scratch);
#undef RELEASE
}

// ---- which points couple ----------------------------------------------------------------------------------------------------

typedef struct PairArg {
    PliAssembled *m;
    bool failed;
} PairArg;

static void push_pair(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    (void)k9;
    PairArg *arg = user;
    PliAssembled *m = arg->m;
    if (row <= column || arg->failed) return; // mirrors come, too
    arg->failed = !PLI_GROW(&m->host, m->pair, m->pair_count, m->pair_capacity);
    if (!arg->failed) m->pair[m->pair_count++] = (PliPair){ row, column };
}

static void push_clique(const PliIndex *point, PliIndex count, PairArg *arg)
{
    for (PliIndex a = 0; a < count; ++a)
        for (PliIndex b = 0; b < a; ++b)
            push_pair(point[a] > point[b] ? point[a] : point[b], point[a] > point[b] ? point[b] : point[a], NULL, arg);
}

/// The active points that the four corners hang on, and their weights; rows of W have at most some dozens.
static bool add_reduced(PliAssembled *m, const PliSystem *s, const PliIndex *corner, PairArg *arg)
{
    enum { MOST = 64 };
    PliIndex column[MOST], count = 0;
    double weight[4][MOST] = { { 0.0 } };
    for (int a = 0; a < 4; ++a) {
        const PliSupport w = pli_system_support(s, &corner[a]);
        for (PliIndex k = 0; k < w.count; ++k) {
            PliIndex c = 0;
            while (c < count && column[c] != w.column[k]) ++c;
            if (c == MOST) return false;
            if (c == count) column[count++] = w.column[k];
            weight[a][c] += w.weight[k];
        }
    }
    const PliReduced r = { (PliIndex)m->reduced_columns, count, m->reduced_weights, m->reduced_places };
    if (!PLI_GROW(&m->host, m->reduced, m->reduced_count, m->reduced_capacity)) return false;
    m->reduced[m->reduced_count++] = r;
    for (PliIndex c = 0; c < count; ++c) {
        if (!PLI_GROW(&m->host, m->reduced_column, m->reduced_columns, m->reduced_column_capacity)) return false;
        m->reduced_column[m->reduced_columns++] = column[c];
    }
    for (PliIndex k = 0; k < 4 * count; ++k) {
        if (!PLI_GROW(&m->host, m->reduced_weight, m->reduced_weights, m->reduced_weight_capacity)) return false;
        m->reduced_weight[m->reduced_weights++] = weight[k / count][k % count];
    }
    for (PliIndex k = 0; k < count * (count + 1) / 2; ++k) {
        if (!PLI_GROW(&m->host, m->reduced_place, m->reduced_places, m->reduced_place_capacity)) return false;
        m->reduced_place[m->reduced_places++] = PLI_NONE; // when the rows are there
    }
    push_clique(column, count, arg);
    return true;
}

/// @return false when stiffness does not come from elements with four corners alone, or some hang on too many points.
static bool push_corners(PliAssembled *m, const PliSystem *s, PairArg *arg)
{
    const PliIndex *corner;
    PliIndex count;
    m->reduced_count = m->reduced_columns = m->reduced_weights = m->reduced_places = 0;
    if (!s->force->corners || !s->force->corners(s->force_self, &corner, &count)) return false;
    if (!RESERVE(m, corner_place, PLI_CORNER_PAIRS * (size_t)count)) arg->failed = true;
    for (PliIndex e = 0; e < count && !arg->failed; ++e, corner += 4) {
        bool active = true;
        for (int a = 0; a < 4; ++a) active = active && corner[a] < s->active_count;
        m->corner_place[PLI_CORNER_PAIRS * (size_t)e] = active ? 0 : PLI_NONE;
        if (active)
            push_clique(corner, 4, arg);
        else if (!add_reduced(m, s, corner, arg))
            return false;
    }
    return true;
}

static void push_all(PliAssembled *m, const PliStepMatrix *a, PairArg *arg)
{
    m->pair_count = 0;
    m->by_corners = push_corners(m, a->system, arg);
    if (!m->by_corners) {
        m->pair_count = 0;
        pli_step_matrix_pattern(a, push_pair, arg);
    }
    for (PliIndex i = 0; a->mass_first && i < a->count; ++i)
        for (PliIndex k = a->mass_first[i]; k < a->mass_first[i + 1]; ++k) push_pair(i, a->mass_column[k], NULL, arg);
}

/// Neighbours of each point, each once: those that are free, or only those that are not.
static bool list_neighbours(PliAssembled *m, const uint8_t *fixed, bool edges)
{
    const PliIndex n = m->n;
    if (2 * m->pair_count >= PLI_NONE || !RESERVE(m, near_first, (size_t)n + 2) ||
        !RESERVE(m, near, 2 * m->pair_count) || !RESERVE(m, scratch, 2 * (size_t)n))
        return false;
    PliIndex *first = m->near_first, *seen = m->scratch;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    for (size_t k = 0; k < m->pair_count; ++k) {
        const PliPair p = m->pair[k];
        first[p.row + 2] += !fixed[p.row] && !fixed[p.column] == !edges;
        first[p.column + 2] += !fixed[p.column] && !fixed[p.row] == !edges;
    }
    for (PliIndex i = 0; i < n; ++i) first[i + 2] += first[i + 1];
    for (size_t k = 0; k < m->pair_count; ++k) {
        const PliPair p = m->pair[k];
        if (!fixed[p.row] && !fixed[p.column] == !edges) m->near[first[p.row + 1]++] = p.column;
        if (!fixed[p.column] && !fixed[p.row] == !edges) m->near[first[p.column + 1]++] = p.row;
    }
    for (PliIndex i = 0; i < n; ++i) seen[i] = PLI_NONE;
    PliIndex used = 0;
    for (PliIndex i = 0, from = 0; i < n; ++i) {
        const PliIndex to = first[i + 1];
        first[i] = used;
        for (PliIndex k = from; k < to; ++k) {
            const PliIndex j = m->near[k];
            if (seen[j] == i) continue;
            seen[j] = i;
            m->near[used++] = j;
        }
        from = to;
    }
    first[n] = used;
    return true;
}

// ---- the order: reverse Cuthill-McKee ----------------------------------------------------------------------------------------

static PliIndex degree_of(const PliAssembled *m, PliIndex i) { return m->near_first[i + 1] - m->near_first[i]; }

/// Points reached from `start`, breadth first and small degrees first, into order from `at` on. @return behind the last
static PliIndex spread_from(const PliAssembled *m, PliIndex start, PliIndex at, PliIndex mark, PliIndex *seen,
                            PliIndex *order)
{
    PliIndex end = at;
    order[end++] = start, seen[start] = mark;
    for (PliIndex k = at; k < end; ++k) {
        const PliIndex i = order[k], born = end;
        for (PliIndex e = m->near_first[i]; e < m->near_first[i + 1]; ++e) {
            const PliIndex j = m->near[e];
            if (seen[j] == mark) continue;
            seen[j] = mark;
            PliIndex p = end++;
            for (; p > born && degree_of(m, order[p - 1]) > degree_of(m, j); --p) order[p] = order[p - 1];
            order[p] = j;
        }
    }
    return end;
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
}

// ---- rows ----------------------------------------------------------------------------------------------------------------------

/// Neighbours before row r into column[from ...], ascending. @return behind the last
static PliIndex sort_into(const PliAssembled *m, PliIndex r, bool edges, PliIndex *column, PliIndex from)
{
    PliIndex used = from;
    const PliIndex i = m->order[r];
    for (PliIndex e = m->near_first[i]; e < m->near_first[i + 1]; ++e) {
        const PliIndex c = m->place[m->near[e]];
        if (c > r && !edges) continue;
        PliIndex p = used++;
        for (; p > from && column[p - 1] > c; --p) column[p] = column[p - 1];
        column[p] = c;
    }
    return used;
}

static bool build_rows(PliAssembled *m, const uint8_t *fixed)
{
    const PliIndex n = m->n;
    if (!RESERVE(m, first, (size_t)n + 1) || !RESERVE(m, column, m->near_first[n] / 2 + 1)) return false;
    m->first[0] = 0;
    for (PliIndex r = 0; r < n; ++r) m->first[r + 1] = sort_into(m, r, false, m->column, m->first[r]);
    if (!list_neighbours(m, fixed, true) || !RESERVE(m, edge_first, (size_t)n + 1) ||
        !RESERVE(m, edge_column, (size_t)m->near_first[n] + 1))
        return false;
    m->edge_first[0] = 0;
    for (PliIndex r = 0; r < n; ++r) m->edge_first[r + 1] = sort_into(m, r, true, m->edge_column, m->edge_first[r]);
    return RESERVE(m, value, 9 * ((size_t)n + m->first[n] + m->edge_first[n] + 1) + 4) && RESERVE(m, fixed, n) &&
           RESERVE(m, in, 4 * (size_t)n) &&
           RESERVE(m, out, 4 * (size_t)n); // four: vectors read past the last row of a block
}

/// Where `column` is in a row of them, or behind it.
static PliIndex bisect(const PliIndex *column, PliIndex low, PliIndex high, PliIndex wanted)
{
    const PliIndex end = high;
    while (low < high) {
        const PliIndex middle = low + (high - low) / 2;
        if (column[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && column[low] == wanted ? low : PLI_NONE;
}

PliIndex pli_assembled_find(const PliAssembled *m, PliIndex row, PliIndex column)
{
    if (row == column) return row;
    const PliIndex at = bisect(m->column, m->first[row], m->first[row + 1], column);
    return at == PLI_NONE ? PLI_NONE : m->n + at;
}

/// Place of the block of two different points, mirrored where the second comes later or is the only one that is free.
static PliIndex place_of(const PliAssembled *m, const uint8_t *fixed, PliIndex i, PliIndex j)
{
    const PliIndex r = m->place[i], c = m->place[j], edges = m->n + m->first[m->n];
    if (fixed[i] && fixed[j]) return edges + m->edge_first[m->n];
    if (fixed[j]) return edges + bisect(m->edge_column, m->edge_first[r], m->edge_first[r + 1], c);
    if (fixed[i])
        return (edges + bisect(m->edge_column, m->edge_first[c], m->edge_first[c + 1], r)) | PLI_PLACE_MIRRORED;
    return r >= c ? pli_assembled_find(m, r, c) : pli_assembled_find(m, c, r) | PLI_PLACE_MIRRORED;
}

static void place_corners(PliAssembled *m, const PliSystem *s)
{
    static const int row[PLI_CORNER_PAIRS] = { 1, 2, 3, 2, 3, 3 }, column[PLI_CORNER_PAIRS] = { 0, 0, 0, 1, 1, 2 };
    const PliIndex *corner;
    PliIndex count;
    s->force->corners(s->force_self, &corner, &count);
    for (PliIndex e = 0; e < count; ++e, corner += 4) {
        PliIndex *place = m->corner_place + PLI_CORNER_PAIRS * (size_t)e;
        for (int q = 0; place[0] != PLI_NONE && q < PLI_CORNER_PAIRS; ++q)
            place[q] = place_of(m, s->fixed, corner[row[q]], corner[column[q]]);
    }
    for (size_t k = 0; k < m->reduced_count; ++k) {
        const PliReduced *r = &m->reduced[k];
        const PliIndex *point = m->reduced_column + r->column_first;
        PliIndex *place = m->reduced_place + r->place_first;
        for (PliIndex p = 0; p < r->column_count; ++p)
            for (PliIndex q = 0; q <= p; ++q)
                *place++ = q == p ? m->place[point[p]] : place_of(m, s->fixed, point[p], point[q]);
    }
}

PliStatus pli_assembled_pattern(PliAssembled *m, const PliStepMatrix *a)
{
    PairArg arg = { m, false };
    m->n = a->count;
    push_all(m, a, &arg);
    if (arg.failed || !list_neighbours(m, a->fixed, false) || !RESERVE(m, order, m->n) || !RESERVE(m, place, m->n))
        return PLI_OUT_OF_MEMORY;
    order_rows(m);
    if (!build_rows(m, a->fixed)) return PLI_OUT_OF_MEMORY;
    if (m->by_corners) place_corners(m, a->system);
    return PLI_OK;
}

// ---- values --------------------------------------------------------------------------------------------------------------------

typedef struct FillArg {
    PliAssembled *m;
    double factor;
    size_t reduced; ///< next one
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

/// W^T K W of one element with passive corners; k has four corners, row-major.
static void fill_reduced(const PliIndex *corner, PliIndex n, const double *k, void *user)
{
    (void)corner, (void)n;
    FillArg *arg = user;
    PliAssembled *m = arg->m;
    const PliReduced *r = &m->reduced[arg->reduced++];
    const PliIndex count = r->column_count, *place = m->reduced_place + r->place_first;
    const double *w = m->reduced_weight + r->weight_first;
    double total[4] = { 0.0 };
    for (PliIndex p = 0; p < 4 * count; ++p) total[p / count] += w[p];
    for (PliIndex p = 0; p < count; ++p) {
        double half[4][9] = { { 0.0 } }; // (W^T K)_p, corner by corner
        for (int a = 0; a < 4; ++a) {
            const double wa = w[(size_t)a * count + p];
            for (int b = 0; wa != 0.0 && b < 4; ++b)
                for (int i = 0; i < 9; ++i) half[b][i] += wa * k[12 * (3 * a + i / 3) + 3 * b + i % 3];
        }
        for (PliIndex q = 0; q <= p; ++q, ++place) {
            double *v = m->value + 9 * (size_t)(*place & ~PLI_PLACE_MIRRORED), sum[9] = { 0.0 };
            for (int b = 0; b < 4; ++b) {
                // on the diagonal, what sum_up cannot see: the sum of the row, 0 where weights sum to 1
                const double wb = q < p ? w[(size_t)b * count + q] : total[b];
                for (int i = 0; wb != 0.0 && i < 9; ++i) sum[i] += wb * half[b][i];
            }
            for (int i = 0; i < 9; ++i) v[i] += sum[*place & PLI_PLACE_MIRRORED ? i % 3 * 3 + i / 3 : i];
        }
    }
}

static void add_masses(PliAssembled *m, const PliStepMatrix *a)
{
    FillArg arg = { m, a->mass_factor, 0 };
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
    FillArg arg = { m, a->stiffness_factor, 0 };
    memset(m->value, 0, 9 * ((size_t)m->n + m->first[m->n] + m->edge_first[m->n] + 1) * sizeof *m->value);
    if (m->by_corners) {
        s->force->add_corner_blocks(s->force_self, a->stiffness_factor, m->corner_place, m->value, fill_reduced, &arg);
        sum_up(m->n, m->first, m->column, m->edge_first, m->value);
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

// Points in vectors of four with a zero behind; rows of blocks are read with what follows them, which that zero takes out.
typedef double V4 __attribute__((vector_size(32)));
typedef double U4 __attribute__((vector_size(32), aligned(8), may_alias));

PLI_WIDE static void multiply(PliIndex n, const PliIndex *first, const PliIndex *column, const double *value,
                              const double *in, double *out)
{
    const double *below = value + 9 * (size_t)n;
    const V4 *x = (const V4 *)in;
    V4 *y = (V4 *)out;
    for (PliIndex r = 0; r < n; ++r) {
        const double *d = value + 9 * (size_t)r;
        const V4 xr = x[r];
        const double x0 = xr[0], x1 = xr[1], x2 = xr[2];
        V4 s0 = *(const U4 *)d * xr, s1 = *(const U4 *)(d + 3) * xr, s2 = *(const U4 *)(d + 6) * xr;
        for (PliIndex e = first[r]; e < first[r + 1]; ++e) {
            const double *b = below + 9 * (size_t)e;
            const V4 b0 = *(const U4 *)b, b1 = *(const U4 *)(b + 3), b2 = *(const U4 *)(b + 6), xc = x[column[e]];
            s0 += b0 * xc, s1 += b1 * xc, s2 += b2 * xc;
            y[column[e]] += b0 * x0 + b1 * x1 + b2 * x2;
        }
        const V4 sum = { s0[0] + s0[1] + s0[2], s1[0] + s1[1] + s1[2], s2[0] + s2[1] + s2[2], 0.0 };
        y[r] = sum; // later rows add theirs
    }
}

void pli_assembled_apply(const PliAssembled *m, const double *x, double *y)
{
    for (PliIndex r = 0; r < m->n; ++r) {
        const double *p = x + 3 * (size_t)m->order[r];
        double *q = m->in + 4 * (size_t)r;
        q[0] = p[0], q[1] = p[1], q[2] = p[2], q[3] = 0.0;
    }
    multiply(m->n, m->first, m->column, m->value, m->in, m->out);
    for (PliIndex r = 0; r < m->n; ++r) memcpy(y + 3 * (size_t)m->order[r], m->out + 4 * (size_t)r, 3 * sizeof *y);
}
