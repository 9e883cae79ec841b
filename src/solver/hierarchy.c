/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/hierarchy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "base/wide.h"

enum {
    COARSEST = 40,    ///< rows of a grid that is factored as it is
    DENSE_MOST = 160, ///< the same where no coarser one can be found
    FOLLOWED = 6      ///< coarse rows that a fine one follows
};

#define RESERVE(o, name, count)                                                                                        \
    pli_reserve(&h->host, (void **)&(o)->name, &(o)->name##_capacity, (count), sizeof *(o)->name)

#define RELEASE(o, name) PLI_FREE(&h->host, (o)->name, (o)->name##_capacity)

static void release_grid(PliHierarchy *h, PliGrid *g)
{
    RELEASE(g, place), RELEASE(g, out), RELEASE(g, to_first), RELEASE(g, to_column), RELEASE(g, to_weight);
    RELEASE(g, r), RELEASE(g, x), RELEASE(g, w), RELEASE(g, near_first), RELEASE(g, near);
    RELEASE(g, first), RELEASE(g, column), RELEASE(g, value);
    PLI_FREE(&h->host, g->t.inverse, g->inverse_capacity);
}

void pli_hierarchy_release(PliHierarchy *h)
{
    for (int k = 0; k < PLI_HIERARCHY_MOST; ++k) release_grid(h, &h->grid[k]);
    RELEASE(h, dense), RELEASE(h, dense_x), RELEASE(h, scratch), RELEASE(h, sums), RELEASE(h, table);
#undef RELEASE
}

static bool make_grid(PliHierarchy *h, PliGrid *g, PliIndex n, const PliIndex *first, const PliIndex *column)
{
    g->t = (PliTriangle){ .n = n, .first = first, .column = column, .inverse = g->t.inverse };
    const bool good =
        RESERVE(g, value, 9 * ((size_t)n + first[n]) + 4) && RESERVE(g, r, n) && RESERVE(g, x, n) && RESERVE(g, w, n) &&
        RESERVE(g, place, 3 * (size_t)n) && RESERVE(g, out, n) &&
        pli_reserve(&h->host, (void **)&g->t.inverse, &g->inverse_capacity, 3 * (size_t)n, sizeof *g->t.inverse);
    g->t.value = g->value;
    return good;
}

PliStatus pli_hierarchy_begin(PliHierarchy *h, PliIndex n, const PliIndex *first, const PliIndex *column)
{
    h->count = 1;
    return make_grid(h, &h->grid[0], n, first, column) && RESERVE(h, scratch, n) ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- the graph -------------------------------------------------------------------------------------------------------------------

static bool list_neighbours(PliHierarchy *h, PliGrid *g)
{
    const PliIndex n = g->t.n, *first = g->t.first, *column = g->t.column;
    if (!RESERVE(g, near_first, (size_t)n + 2) || !RESERVE(g, near, 2 * (size_t)first[n] + 1)) return false;
    PliIndex *to = g->near_first;
    memset(to, 0, ((size_t)n + 2) * sizeof *to);
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e) to[r + 2]++, to[column[e] + 2]++;
    for (PliIndex r = 0; r < n; ++r) to[r + 2] += to[r + 1];
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e) {
            g->near[to[r + 1]++] = column[e];
            g->near[to[column[e] + 1]++] = r;
        }
    return true;
}

/// Mean distance of row r to its nearest neighbours; 0: it has none.
static double spacing(const PliGrid *g, PliIndex r)
{
    enum { NEAREST = 6 };
    double nearest[NEAREST], sum = 0.0;
    int count = 0;
    for (PliIndex e = g->near_first[r]; e < g->near_first[r + 1]; ++e) {
        const double d = v3_distance(g->place + 3 * (size_t)r, g->place + 3 * (size_t)g->near[e]);
        if (count == NEAREST && d >= nearest[NEAREST - 1]) continue;
        int k = count < NEAREST ? count++ : NEAREST - 1;
        for (; k > 0 && nearest[k - 1] > d; --k) nearest[k] = nearest[k - 1];
        nearest[k] = d;
    }
    for (int k = 0; k < count; ++k) sum += nearest[k] / count;
    return sum;
}

/// Rows that stay: in the order of rows, those that none before is close to. Close means within two edges and some spacings, so that one
/// of about eight stays whatever the graph: without the distance, cubes of five tetrahedra kept two of five, and coarser graphs, which
/// are denser, one of eighteen; 100,000 nodes took 14 iterations instead of 10, and twice the time. number[row]: coarse row, or PLI_NONE.
static PliIndex choose_coarse(const PliGrid *g, PliIndex *number)
{
    enum { FREE = 0xfffffffe };
    static const double spacings = 1.6; // 1.5 to 2 do nearly as well, 1.3 and 2.4 do not
    const PliIndex n = g->t.n;
    PliIndex count = 0;
    for (PliIndex r = 0; r < n; ++r) number[r] = g->out[r] ? PLI_NONE : FREE;
    for (PliIndex r = 0; r < n; ++r) {
        if (number[r] != FREE) continue;
        number[r] = count++;
        const double reach = spacings * spacing(g, r), *here = g->place + 3 * (size_t)r;
        for (PliIndex e = g->near_first[r]; e < g->near_first[r + 1]; ++e) {
            const PliIndex j = g->near[e];
            if (number[j] == FREE && v3_distance(here, g->place + 3 * (size_t)j) < reach) number[j] = PLI_NONE;
            for (PliIndex f = g->near_first[j]; f < g->near_first[j + 1]; ++f) {
                const PliIndex k = g->near[f];
                if (number[k] == FREE && v3_distance(here, g->place + 3 * (size_t)k) < reach) number[k] = PLI_NONE;
            }
        }
    }
    return count;
}

// ---- prolongation ------------------------------------------------------------------------------------------------------------------

typedef struct Followed {
    PliIndex row[FOLLOWED]; ///< of the fine grid
    double distance[FOLLOWED];
    int count;
} Followed;

static void keep_nearest(Followed *f, PliIndex row, double distance)
{
    if (f->count == FOLLOWED && distance >= f->distance[FOLLOWED - 1]) return;
    int k = f->count < FOLLOWED ? f->count++ : FOLLOWED - 1;
    for (; k > 0 && f->distance[k - 1] > distance; --k) f->row[k] = f->row[k - 1], f->distance[k] = f->distance[k - 1];
    f->row[k] = row, f->distance[k] = distance;
}

/// The nearest coarse rows within three edges. queue and seen have a place for every row; seen holds marks of earlier calls.
static Followed find_followed(const PliGrid *g, PliIndex r, const PliIndex *number, PliIndex *queue, PliIndex *seen)
{
    enum { EDGES = 3, MOST = 400 };
    Followed f = { .count = 0 };
    PliIndex from = 0, to = 1, end = 1;
    queue[0] = r, seen[r] = r;
    for (int edge = 0; edge < EDGES && end < MOST; ++edge, from = to, to = end) {
        for (PliIndex k = from; k < to; ++k)
            for (PliIndex e = g->near_first[queue[k]]; e < g->near_first[queue[k] + 1]; ++e) {
                const PliIndex j = g->near[e];
                if (seen[j] == r || g->out[j]) continue;
                seen[j] = r, queue[end++] = j;
                if (number[j] != PLI_NONE)
                    keep_nearest(&f, j, v3_distance(g->place + 3 * (size_t)r, g->place + 3 * (size_t)j));
            }
        if (f.count == FOLLOWED && edge >= 1) break;
    }
    return f;
}

/// a x = b for a symmetric positive definite 4x4 matrix, in place. @return false: it is not
static bool solve_four(double a[4][4], double b[4])
{
    for (int k = 0; k < 4; ++k) {
        if (!(a[k][k] > 0.0)) return false;
        for (int i = k + 1; i < 4; ++i) {
            const double f = a[i][k] / a[k][k];
            for (int j = k; j < 4; ++j) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 4; k-- > 0;) {
        for (int j = k + 1; j < 4; ++j) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return true;
}

// Moving least squares: the weights of least sum of w^2 d^2 that reproduce constants and, but for a small ridge, linear functions.
// Where the followed ones lie in a plane or on a line, the ridge leaves the weights of their distances.
static void weigh(const PliGrid *g, PliIndex r, const Followed *f, float *weight)
{
    const double *here = g->place + 3 * (size_t)r;
    double a[4][4] = { { 0.0 } }, b[4] = { 1.0, 0.0, 0.0, 0.0 }, share[FOLLOWED], q[FOLLOWED][4];
    const double size = f->distance[f->count - 1] > 0.0 ? f->distance[f->count - 1] : 1.0;
    for (int k = 0; k < f->count; ++k) {
        const double *there = g->place + 3 * (size_t)f->row[k], d = f->distance[k] / size;
        q[k][0] = 1.0;
        for (int c = 0; c < 3; ++c) q[k][c + 1] = (there[c] - here[c]) / size;
        share[k] = 1.0 / (d * d + 1e-6);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) a[i][j] += share[k] * q[k][i] * q[k][j];
    }
    const double ridge = 1e-2 * (a[1][1] + a[2][2] + a[3][3]) + 1e-12;
    for (int i = 1; i < 4; ++i) a[i][i] += ridge;
    const bool good = solve_four(a, b);
    double sum = 0.0;
    for (int k = 0; k < f->count; ++k) {
        double w = good ? 0.0 : 1.0;
        for (int i = 0; good && i < 4; ++i) w += b[i] * q[k][i];
        weight[k] = (float)(share[k] * w);
        sum += share[k] * w;
    }
    for (int k = 0; k < f->count; ++k) weight[k] = (float)(weight[k] / sum);
}

static bool build_prolongation(PliHierarchy *h, PliGrid *g, const PliIndex *number, PliIndex *queue, PliIndex *seen)
{
    const PliIndex n = g->t.n;
    if (!RESERVE(g, to_first, (size_t)n + 1) || !RESERVE(g, to_column, FOLLOWED * (size_t)n) ||
        !RESERVE(g, to_weight, FOLLOWED * (size_t)n))
        return false;
    PliIndex used = 0;
    for (PliIndex r = 0; r < n; ++r) seen[r] = PLI_NONE;
    for (PliIndex r = 0; r < n; ++r) {
        g->to_first[r] = used;
        if (g->out[r]) continue;
        if (number[r] != PLI_NONE) {
            g->to_column[used] = number[r], g->to_weight[used++] = 1.0f;
            continue;
        }
        const Followed f = find_followed(g, r, number, queue, seen);
        weigh(g, r, &f, g->to_weight + used); // a maximal set: there is one
        for (int k = 0; k < f.count; ++k) g->to_column[used++] = number[f.row[k]];
    }
    g->to_first[n] = used;
    return true;
}

// ---- the coarser pattern ---------------------------------------------------------------------------------------------------------------

/// Columns below the diagonal of P^T A P. @return false: no memory
static bool build_coarse(PliHierarchy *h, const PliGrid *g, PliGrid *c, PliIndex count, PliIndex *scratch)
{
    const PliIndex n = g->t.n;
    PliIndex *back_first = scratch, *seen = back_first + count + 2,
             *back = seen + count; // rows that follow each coarse one
    memset(back_first, 0, ((size_t)count + 2) * sizeof *back_first);
    for (PliIndex k = 0; k < g->to_first[n]; ++k) back_first[g->to_column[k] + 2]++;
    for (PliIndex p = 0; p < count; ++p) back_first[p + 2] += back_first[p + 1], seen[p] = PLI_NONE;
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex k = g->to_first[r]; k < g->to_first[r + 1]; ++k) back[back_first[g->to_column[k] + 1]++] = r;
    if (!RESERVE(c, first, (size_t)count + 1)) return false;
    size_t used = 0;
    for (int pass = 0; pass < 2; ++pass) { // counts, then fills
        if (pass && !RESERVE(c, column, used + 1)) return false;
        used = 0;
        for (PliIndex p = 0; p < count; ++p) seen[p] = PLI_NONE;
        for (PliIndex p = 0; p < count; ++p) {
            const size_t start = used;
            for (PliIndex b = back_first[p]; b < back_first[p + 1]; ++b)
                for (PliIndex e = g->near_first[back[b]]; e <= g->near_first[back[b] + 1]; ++e) {
                    const PliIndex j = e < g->near_first[back[b] + 1] ? g->near[e] : back[b]; // itself, too
                    for (PliIndex k = g->to_first[j]; k < g->to_first[j + 1]; ++k) {
                        const PliIndex q = g->to_column[k];
                        if (q >= p || seen[q] == p) continue;
                        seen[q] = p;
                        if (pass) {
                            size_t at = used;
                            for (; at > start && c->column[at - 1] > q; --at) c->column[at] = c->column[at - 1];
                            c->column[at] = q;
                        }
                        ++used;
                    }
                }
            if (pass) c->first[p] = (PliIndex)start;
        }
        if (used >= PLI_NONE) return false;
    }
    c->first[count] = (PliIndex)used;
    return make_grid(h, c, count, c->first, c->column);
}

/// From `fine` to the next coarser grid: number[row] is its coarse row, or PLI_NONE. @return how many; 0: there is no coarser one, PLI_NONE: no memory
static PliIndex make_coarser(PliHierarchy *h, PliGrid *g, PliGrid *c)
{
    const PliIndex n = g->t.n;
    if (!list_neighbours(h, g) || !RESERVE(h, scratch, (size_t)(FOLLOWED + 4) * n + 4)) return PLI_NONE;
    PliIndex *number = h->scratch, *queue = number + n, *seen = queue + n;
    const PliIndex count = choose_coarse(g, number);
    if (count == 0 || count > n - n / 4) return 0;
    if (!build_prolongation(h, g, number, queue, seen) || !build_coarse(h, g, c, count, h->scratch + n))
        return PLI_NONE;
    for (PliIndex r = 0; r < n; ++r)
        if (number[r] != PLI_NONE)
            memcpy(c->place + 3 * (size_t)number[r], g->place + 3 * (size_t)r, 3 * sizeof *c->place);
    memset(c->out, 0, count);
    return count;
}

/// Rows of g follow the nearest of those that the rows they followed follow. fine[q]: row of g of the coarse row q.
static void skip_between(PliGrid *g, const PliGrid *between, const PliIndex *fine, PliIndex *first, PliIndex *column,
                         float *weight)
{
    PliIndex used = 0;
    for (PliIndex r = 0; r < g->t.n; ++r) {
        Followed f = { .count = 0 };
        PliIndex number[FOLLOWED];
        first[r] = used;
        for (PliIndex k = g->to_first[r]; k < g->to_first[r + 1]; ++k)
            for (PliIndex j = between->to_first[g->to_column[k]]; j < between->to_first[g->to_column[k] + 1]; ++j) {
                const PliIndex q = between->to_column[j];
                bool known = false;
                for (int i = 0; i < f.count; ++i) known |= f.row[i] == q;
                if (!known) keep_nearest(&f, q, v3_distance(g->place + 3 * (size_t)r, g->place + 3 * (size_t)fine[q]));
            }
        if (f.count && f.distance[0] == 0.0) f.count = 1;
        for (int k = 0; k < f.count; ++k) number[k] = f.row[k], f.row[k] = fine[f.row[k]];
        if (f.count) weigh(g, r, &f, weight + used);
        for (int k = 0; k < f.count; ++k) column[used++] = number[k];
    }
    first[g->t.n] = used;
    memcpy(g->to_first, first, ((size_t)g->t.n + 1) * sizeof *first);
    memcpy(g->to_column, column, used * sizeof *column);
    memcpy(g->to_weight, weight, used * sizeof *weight);
}

/// The grid after the finest: that of two choices, where the first leaves enough for another. @return as make_coarser
static PliIndex make_first(PliHierarchy *h, PliGrid *g, PliGrid *c)
{
    const PliIndex n = g->t.n;
    const size_t room = 2 * (size_t)n + 1 + FOLLOWED * (size_t)n;
    PliGrid between = { 0 };
    PliIndex *work = PLI_NEW(&h->host, room, PliIndex), *fine = work;
    float *weight = PLI_NEW(&h->host, FOLLOWED * (size_t)n, float);
    PliIndex count = work && weight ? make_coarser(h, g, &between) : PLI_NONE;
    if (count != 0 && count != PLI_NONE) {
        const PliIndex one = count;
        if (one > COARSEST) {
            PliIndex *up = work + n; // of the rows between
            for (PliIndex r = 0; r < n; ++r)
                if (h->scratch[r] != PLI_NONE) up[h->scratch[r]] = r;
            count = make_coarser(h, &between, c);
            if (count != 0 && count != PLI_NONE)
                for (PliIndex r = 0; r < one; ++r)
                    if (h->scratch[r] != PLI_NONE) fine[h->scratch[r]] = up[r];
            if (count != 0 && count != PLI_NONE) {
                skip_between(g, &between, fine, work + n, work + 2 * (size_t)n + 1, weight);
                for (PliIndex q = 0; q < count; ++q)
                    memcpy(between.place + 3 * (size_t)q, g->place + 3 * (size_t)fine[q], 3 * sizeof *between.place);
            }
        }
        if (count != PLI_NONE && count != 0) {
            // the pattern over rows of g; c has room and places are those of `between`
            if (!RESERVE(h, scratch, (size_t)(FOLLOWED + 4) * n + 4) || !build_coarse(h, g, c, count, h->scratch + n))
                count = PLI_NONE;
            else
                memcpy(c->place, between.place, 3 * (size_t)count * sizeof *c->place), memset(c->out, 0, count);
        }
    }
    release_grid(h, &between);
    PLI_FREE(&h->host, work, room);
    PLI_FREE(&h->host, weight, FOLLOWED * (size_t)n);
    return count;
}

/// Where the blocks of grid 1 are, while that takes little memory.
static bool make_table(PliHierarchy *h)
{
    const PliTriangle *t = &h->grid[1].t;
    const size_t most = 8 * (size_t)h->grid[0].t.n;
    h->has_table = h->count > 1 && (size_t)t->n * t->n <= most;
    if (!h->has_table) return true;
    if (!RESERVE(h, table, (size_t)t->n * t->n)) return false;
    for (PliIndex r = 0; r < t->n; ++r)
        for (PliIndex e = t->first[r]; e < t->first[r + 1]; ++e) h->table[(size_t)r * t->n + t->column[e]] = t->n + e;
    return true;
}

PliStatus pli_hierarchy_pattern(PliHierarchy *h, bool far)
{
    PliIndex widest = 0;
    for (h->count = 1; h->count < PLI_HIERARCHY_MOST; ++h->count) {
        PliGrid *g = &h->grid[h->count - 1];
        widest = g->t.n > widest ? g->t.n : widest;
        if (g->t.n <= COARSEST) break;
        const PliIndex count = far && h->count == 1 ? make_first(h, g, g + 1) : make_coarser(h, g, g + 1);
        if (count == PLI_NONE) return PLI_OUT_OF_MEMORY;
        if (count == 0) break;
    }
    const size_t last = 3 * (size_t)h->grid[h->count - 1].t.n;
    const bool dense = last <= 3 * DENSE_MOST;
    return RESERVE(h, dense, dense ? last * last : 1) && RESERVE(h, dense_x, dense ? last : 1) &&
                   RESERVE(h, sums, 9 * (size_t)widest) && make_table(h)
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

// ---- the coarser matrices --------------------------------------------------------------------------------------------------------------

static inline PliIndex find(const PliTriangle *t, const PliIndex *table, PliIndex row, PliIndex column)
{
    if (table) return table[(size_t)row * t->n + column];
    return t->n + pli_sorted_place(t->column, t->first[row], t->first[row + 1], column); // the pattern has it
}

/// Row r of L P, blocks left of the diagonal times rows of P: numbers of its columns to `touched`, blocks to sums[column].
static inline PliIndex row_product(const PliGrid *g, PliIndex r, PliIndex *touched, uint8_t *is_touched, float *sums)
{
    const PliTriangle *t = &g->t;
    PliIndex count = 0;
    for (PliIndex e = t->first[r]; e < t->first[r + 1]; ++e) {
        const PliIndex s = t->column[e];
        const float *b = t->value + 9 * ((size_t)t->n + e);
        for (PliIndex k = g->to_first[s]; k < g->to_first[s + 1]; ++k) {
            const PliIndex q = g->to_column[k];
            const float w = g->to_weight[k];
            float *v = sums + 9 * (size_t)q;
            if (!is_touched[q]) {
                is_touched[q] = 1, touched[count++] = q;
                for (int i = 0; i < 9; ++i) v[i] = w * b[i];
            } else {
                for (int i = 0; i < 9; ++i) v[i] += w * b[i];
            }
        }
    }
    return count;
}

/// C += w b at (p, q), and its mirror at (q, p).
static inline void add_pair(const PliTriangle *c, const PliIndex *table, PliIndex p, PliIndex q, float w,
                            const float *b)
{
    if (p > q) {
        float *v = c->value + 9 * (size_t)find(c, table, p, q);
        for (int k = 0; k < 9; ++k) v[k] += w * b[k];
    } else if (p < q) {
        float *v = c->value + 9 * (size_t)find(c, table, q, p);
        for (int k = 0; k < 9; ++k) v[k] += w * b[k % 3 * 3 + k / 3];
    } else {
        float *v = c->value + 9 * (size_t)p;
        for (int k = 0; k < 9; ++k) v[k] += w * (b[k] + b[k % 3 * 3 + k / 3]);
    }
}

// With A = D + L + L^T, P^T A P = P^T D P + P^T (L P) + its mirror; L P is made row by row.
PLI_WIDE static void coarsen_grid(PliHierarchy *h, const PliGrid *g, PliGrid *c, const PliIndex *table)
{
    const PliTriangle *t = &g->t;
    PliIndex *touched = h->scratch;
    uint8_t *is_touched = (uint8_t *)(h->scratch + c->t.n);
    memset(is_touched, 0, c->t.n);
    memset(c->t.value, 0, 9 * ((size_t)c->t.n + c->t.first[c->t.n]) * sizeof *c->t.value);
    for (PliIndex r = 0; r < t->n; ++r) {
        if (g->to_first[r] == g->to_first[r + 1]) continue;
        const PliIndex count = row_product(g, r, touched, is_touched, h->sums);
        const float *d = t->value + 9 * (size_t)r;
        for (PliIndex i = g->to_first[r]; i < g->to_first[r + 1]; ++i) {
            const PliIndex p = g->to_column[i];
            const float w = g->to_weight[i];
            for (PliIndex k = 0; k < count; ++k)
                add_pair(&c->t, table, p, touched[k], w, h->sums + 9 * (size_t)touched[k]);
            for (PliIndex j = g->to_first[r]; j < i; ++j)
                add_pair(&c->t, table, p, g->to_column[j], w * g->to_weight[j], d);
            add_pair(&c->t, table, p, p, 0.5f * w * w, d);
        }
        for (PliIndex k = 0; k < count; ++k) is_touched[touched[k]] = 0;
    }
}

static void factor_dense(PliHierarchy *h, const PliTriangle *t)
{
    const size_t n = 3 * (size_t)t->n;
    double *a = h->dense;
    h->has_factor = false;
    if (t->n > DENSE_MOST) return;
    memset(a, 0, n * n * sizeof *a);
    for (size_t r = 0; r < t->n; ++r) {
        for (size_t k = 0; k < 9; ++k) a[(3 * r + k / 3) * n + 3 * r + k % 3] = t->value[9 * r + k];
        for (PliIndex e = t->first[r]; e < t->first[r + 1]; ++e)
            for (size_t k = 0; k < 9; ++k)
                a[(3 * r + k / 3) * n + 3 * (size_t)t->column[e] + k % 3] = t->value[9 * ((size_t)t->n + e) + k];
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            if (i > j)
                a[i * n + j] = sum * a[j * n + j];
            else if (sum > 1e-7 * a[i * n + i])
                a[i * n + i] = 1.0 / sqrt(sum);
            else
                return; // single precision lost it: sweeps are left
        }
    h->has_factor = true;
}

void pli_hierarchy_coarsen(PliHierarchy *h)
{
    for (int k = 1; k < h->count; ++k) {
        coarsen_grid(h, &h->grid[k - 1], &h->grid[k], k == 1 && h->has_table ? h->table : NULL);
        pli_triangle_invert(&h->grid[k].t);
    }
    factor_dense(h, &h->grid[h->count - 1].t);
}

// ---- a cycle ---------------------------------------------------------------------------------------------------------------------------

static void solve_dense(const PliHierarchy *h, const PliGrid *g)
{
    const size_t n = 3 * (size_t)g->t.n;
    const double *a = h->dense;
    double *x = h->dense_x;
    for (size_t i = 0; i < n; ++i) {
        double sum = g->r[i / 3][i % 3];
        for (size_t k = 0; k < i; ++k) sum -= a[i * n + k] * x[k];
        x[i] = sum * a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] *= a[i * n + i];
        for (size_t k = 0; k < i; ++k) x[k] -= a[i * n + k] * x[i];
    }
    for (size_t r = 0; r < g->t.n; ++r)
        g->x[r] = (PliF4){ (float)x[3 * r], (float)x[3 * r + 1], (float)x[3 * r + 2], 0.0f };
}

PLI_WIDE static void restrict_to(const PliGrid *g, const PliF4 *restrict from, const PliGrid *c)
{
    PliF4 *restrict to = c->r;
    const PliIndex n = g->t.n, *first = g->to_first, *column = g->to_column;
    const float *weight = g->to_weight;
    memset(to, 0, c->t.n * sizeof *to);
    for (PliIndex r = 0; r < n; ++r) {
        const PliF4 v = from[r];
        for (PliIndex k = first[r]; k < first[r + 1]; ++k) to[column[k]] += weight[k] * v;
    }
}

PLI_WIDE static void prolong_from(const PliGrid *c, const PliGrid *g)
{
    const PliF4 *restrict from = c->x;
    PliF4 *restrict to = g->x;
    const PliIndex n = g->t.n, *first = g->to_first, *column = g->to_column;
    const float *weight = g->to_weight;
    for (PliIndex r = 0; r < n; ++r) {
        PliF4 v = to[r];
        for (PliIndex k = first[r]; k < first[r + 1]; ++k) v += weight[k] * from[column[k]];
        to[r] = v;
    }
}

/// grid[k].x = about A^-1 grid[k].r by sweeps on that grid and all coarser ones
static void cycle_from(PliHierarchy *h, int from)
{
    const int last = h->count - 1;
    for (int k = from; k <= last; ++k) {
        PliGrid *g = &h->grid[k];
        if (k == last && h->has_factor) {
            solve_dense(h, g);
            continue;
        }
        memset(g->w, 0, g->t.n * sizeof *g->w);
        pli_triangle_forward(&g->t, g->r, g->x, g->w);
        if (k < last) restrict_to(g, g->w, g + 1);
    }
    for (int k = h->has_factor ? last - 1 : last; k >= from; --k) {
        PliGrid *g = &h->grid[k];
        if (k < last) prolong_from(g + 1, g);
        memset(g->w, 0, g->t.n * sizeof *g->w);
        pli_triangle_backward(&g->t, g->r, g->x, g->w);
    }
}

void pli_hierarchy_cycle(PliHierarchy *h) { cycle_from(h, 0); }

void pli_hierarchy_add_coarse(PliHierarchy *h)
{
    if (h->count == 1) return;
    restrict_to(&h->grid[0], h->grid[0].r, &h->grid[1]);
    cycle_from(h, 1);
    prolong_from(&h->grid[1], &h->grid[0]);
}
